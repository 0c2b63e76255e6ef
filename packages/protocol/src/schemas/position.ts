import { Type, type Static } from '@sinclair/typebox'
import { DEFAULT_SLIPPAGE } from '../values/scales.ts'
import { PreparedTransactionSchema } from './order.ts'
import {
  AddressSchema,
  Annotated,
  Closed,
  DecimalSchema,
  HexSchema,
  IdSchema,
  LIST_CURSOR,
  ListCursorSchema,
  MarketSymbolSchema,
  Nullable,
  OneOf,
  SideSchema,
  TimestampSchema,
} from './scalars.ts'
import { WARNINGS, WarningsSchema } from './warning.ts'

/**
 * Kinds of changes of a position that wait for the oracle. `collateral` is a change of leverage that was asked for as
 * an amount of collateral; `other` realises fees or losses without a change of the position's terms.
 */
export const POSITION_UPDATE_KINDS = ['leverage', 'collateral', 'increase', 'withdrawal', 'other'] as const
export type PositionUpdateKind = (typeof POSITION_UPDATE_KINDS)[number]

export const PENDING_UPDATE_STATUSES = ['pending', 'timed_out'] as const
export type PendingUpdateStatus = (typeof PENDING_UPDATE_STATUSES)[number]

export const PendingUpdateSchema = Closed(
  {
    kind: OneOf(POSITION_UPDATE_KINDS),
    leverage: DecimalSchema,
    collateralDelta: DecimalSchema,
    txHash: Nullable(HexSchema),
    createdAt: TimestampSchema,
    timesOutAtBlock: Type.Integer(),
    status: OneOf(PENDING_UPDATE_STATUSES),
  },
  {
    kind: 'Kind of the change. `collateral` is a change of leverage that was asked for as an amount of collateral; `other` realises fees or losses without a change of terms.',
    leverage: 'Leverage that the position is to have, a multiple of the collateral.',
    collateralDelta: 'Tokens of the collateral that the wallet gave; negative for what it is to get.',
    txHash: "Hash of the request's transaction, 32 bytes; null when it was made before the service knew the chain.",
    createdAt: 'Time of the request in epoch milliseconds.',
    timesOutAtBlock: 'First block in which it can be reclaimed if the oracle has not answered it.',
    status: '`pending` until that block, then `timed_out`: reclaim it with cancelPositionUpdate.',
  },
  {
    title: 'PendingUpdate',
    description:
      'A change of a position that waits for the oracle. Until it has ended, the contracts refuse a close and every other change but `sl` and `tp`.',
  },
)
export type PendingUpdate = Static<typeof PendingUpdateSchema>

export const PositionSchema = Closed(
  {
    id: IdSchema,
    trader: AddressSchema,
    market: MarketSymbolSchema,
    pairIndex: Type.Integer(),
    side: SideSchema,
    size: DecimalSchema,
    collateral: DecimalSchema,
    collateralSymbol: Type.String(),
    leverage: DecimalSchema,
    entryPrice: DecimalSchema,
    markPrice: DecimalSchema,
    liquidationPrice: DecimalSchema,
    unrealizedPnl: DecimalSchema,
    unrealizedPnlPercent: DecimalSchema,
    fundingFee: DecimalSchema,
    borrowingFee: DecimalSchema,
    sl: DecimalSchema,
    tp: DecimalSchema,
    openedAtBlock: Type.Integer(),
    marginMode: Type.Literal('isolated'),
    priceAt: TimestampSchema,
    pendingUpdate: Nullable(PendingUpdateSchema),
    realized: DecimalSchema,
  },
  {
    id: 'Id of the position, the same for ever.',
    trader: 'Address of the trader whose position it is.',
    market: 'Symbol of the market.',
    pairIndex: 'Index of the pair on the Diamond.',
    side: 'Side of the position.',
    size: 'Size in base units. Size x price is the notional in USD.',
    collateral: 'Collateral in tokens of `collateralSymbol`.',
    collateralSymbol: 'Symbol of the token of the collateral and of all amounts here.',
    leverage: 'Leverage, a multiple of the collateral.',
    entryPrice: 'Price at which it was opened, in the quote currency.',
    markPrice: 'Mark price that it is valued at, in the quote currency.',
    liquidationPrice:
      'Index price at which it is liquidated, in the quote currency: a long at or below it, a short at or above it.',
    unrealizedPnl:
      'Profit in tokens of the collateral if it were closed at the mark, without the fee of the close: price profit less pending holding fees plus `realized`.',
    unrealizedPnlPercent: '`unrealizedPnl` in percent of the collateral: `5` is 5 %.',
    fundingFee: 'Funding that is pending, in tokens of the collateral. Positive is owed, negative is earned.',
    borrowingFee: 'Borrowing fee that is pending, in tokens of the collateral. Positive is owed.',
    sl: 'Stop loss in the quote currency; "0" when there is none.',
    tp: 'Take profit in the quote currency; "0" when there is none.',
    openedAtBlock: 'Number of the block in which it was opened.',
    marginMode: 'Always `isolated`: it can lose its own collateral and no more.',
    priceAt:
      'Time in epoch milliseconds at which `markPrice` came from the feed: a quiet market keeps its last one, also across a restart, with a time that is never newer than the price. 0 while no price of the market is known; the position is then valued at its entry price.',
    pendingUpdate: 'The change that waits for the oracle; null when none does.',
    realized:
      'Profits less fees that were charged to the position and not paid out yet, in tokens of the collateral. Part of `unrealizedPnl`.',
  },
  { title: 'Position', description: 'An open position, valued as of now. Only `pendingUpdate` can be null.' },
)
export type Position = Static<typeof PositionSchema>

export const PositionListSchema = Closed(
  { data: Type.Array(PositionSchema), nextCursor: ListCursorSchema },
  { data: 'Open positions, oldest first.', nextCursor: LIST_CURSOR },
  { title: 'PositionList', description: 'The open positions of a trader.' },
)

export const ClosePositionRequestSchema = Closed(
  {
    size: Type.Optional(DecimalSchema),
    slippage: Type.Optional(Annotated(DecimalSchema, { default: DEFAULT_SLIPPAGE })),
  },
  {
    size: "Size to close in base units, with at most the market's `sizePrecision` decimals; the position's own size always passes. Default: all of it.",
    slippage: `Greatest difference between the mark and the execution price, in percent: \`1\` is 1 %. From 0.001 to 65.535, with at most 3 decimals. It stays with what is left of the position. Default ${DEFAULT_SLIPPAGE}.`,
  },
  { title: 'ClosePositionRequest', description: 'A close at market. The body may be left out.' },
)
export type ClosePositionRequest = Static<typeof ClosePositionRequestSchema>

const CollateralChangeSchema = Closed(
  { action: OneOf(['add', 'remove']), amount: DecimalSchema },
  {
    action: '`add` takes tokens from the wallet, `remove` gives them back.',
    amount:
      'Tokens of the collateral, above 0. It moves in steps of 0.001 of leverage: the step nearest below is taken.',
  },
  { title: 'CollateralChange', description: "A change of a position's collateral." },
)

export const UpdatePositionRequestSchema = Closed(
  {
    sl: Type.Optional(DecimalSchema),
    tp: Type.Optional(DecimalSchema),
    leverage: Type.Optional(DecimalSchema),
    collateral: Type.Optional(CollateralChangeSchema),
  },
  {
    sl: 'New stop loss in the quote currency, with at most the market\'s `pricePrecision` decimals; "0" clears it. Default: unchanged.',
    tp: 'New take profit in the quote currency, with at most the market\'s `pricePrecision` decimals; "0" clears it. Default: unchanged.',
    leverage:
      "New leverage, a multiple of the collateral, from 0.1 to the market's `maxLeverage`, with at most 3 decimals. The size stays, so the collateral changes. Not together with other fields. Default: unchanged.",
    collateral:
      'Collateral to add or remove. The size stays, so the leverage changes. Not together with other fields. Default: unchanged.',
  },
  {
    title: 'UpdatePositionRequest',
    description: 'A change of a position: of its stops, its leverage or its collateral.',
  },
)
export type UpdatePositionRequest = Static<typeof UpdatePositionRequestSchema>

export const PreparedPositionSchema = Closed(
  { position: PositionSchema, transaction: PreparedTransactionSchema, warnings: WarningsSchema },
  {
    position: 'The position as it is now, with `sl` and `tp` as the contracts will keep them.',
    transaction: 'Transaction to sign and send.',
    warnings: WARNINGS,
  },
  { title: 'PreparedPosition', description: 'A position, and the transaction that changes it.' },
)
export type PreparedPosition = Static<typeof PreparedPositionSchema>
