import { Type, type Static } from '@sinclair/typebox'
import { PreparedTransactionSchema } from './order.ts'
import {
  AddressSchema,
  Closed,
  DecimalSchema,
  HexSchema,
  IdSchema,
  MarketSymbolSchema,
  Nullable,
  SideSchema,
  TimestampSchema,
} from './scalars.ts'
import { WarningsSchema } from './warning.ts'

/**
 * Kinds of changes of a position that wait for the oracle. `collateral` is a change of leverage that was asked for as
 * an amount of collateral; `other` realises fees or losses without a change of the position's terms.
 */
export const POSITION_UPDATE_KINDS = ['leverage', 'collateral', 'increase', 'withdrawal', 'other'] as const
export type PositionUpdateKind = (typeof POSITION_UPDATE_KINDS)[number]

export const PENDING_UPDATE_STATUSES = ['pending', 'timed_out'] as const
export type PendingUpdateStatus = (typeof PENDING_UPDATE_STATUSES)[number]

/** A change of a position that waits for the oracle. Until it has ended, the contracts refuse any other request. */
export const PendingUpdateSchema = Closed({
  kind: Type.Union(POSITION_UPDATE_KINDS.map((kind) => Type.Literal(kind))),
  /** Leverage that the position is to have. */
  leverage: DecimalSchema,
  /** Units of the collateral that the wallet gave; negative for what it is to get. */
  collateralDelta: DecimalSchema,
  txHash: HexSchema,
  createdAt: TimestampSchema,
  /** The first block in which it can be reclaimed if nobody has answered it. */
  timesOutAtBlock: Type.Integer(),
  status: Type.Union(PENDING_UPDATE_STATUSES.map((status) => Type.Literal(status))),
})
export type PendingUpdate = Static<typeof PendingUpdateSchema>

/**
 * An open position. An unset `sl` or `tp` is "0", as on chain; only `pendingUpdate` can be null. A positive fee is paid
 * by the trader.
 */
export const PositionSchema = Closed({
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
  /**
   * Time at which the mark that was used came from the price feed. It says how old the valuation is: a quiet market
   * keeps its last mark. 0 while the feed has no price of the market; the position is then valued at its entry price.
   */
  priceAt: TimestampSchema,
  pendingUpdate: Nullable(PendingUpdateSchema),
  /**
   * Profits less fees that were charged to the position and not paid out yet, in units of the collateral: realised
   * profit - realised trading fees of its record on chain. Part of `unrealizedPnl`.
   */
  realized: DecimalSchema,
})
export type Position = Static<typeof PositionSchema>
export const PositionListSchema = Closed({ data: Type.Array(PositionSchema) })

export const ClosePositionRequestSchema = Closed({
  size: Type.Optional(DecimalSchema),
  slippage: Type.Optional(DecimalSchema),
})
export type ClosePositionRequest = Static<typeof ClosePositionRequestSchema>

/** A change of a position. A change of `collateral` keeps the size, so the leverage changes. */
export const UpdatePositionRequestSchema = Closed({
  sl: Type.Optional(DecimalSchema),
  tp: Type.Optional(DecimalSchema),
  leverage: Type.Optional(DecimalSchema),
  collateral: Type.Optional(
    Closed({ action: Type.Union([Type.Literal('add'), Type.Literal('remove')]), amount: DecimalSchema }),
  ),
})
export type UpdatePositionRequest = Static<typeof UpdatePositionRequestSchema>

export const PreparedPositionSchema = Closed({
  position: PositionSchema,
  transaction: PreparedTransactionSchema,
  warnings: WarningsSchema,
})
export type PreparedPosition = Static<typeof PreparedPositionSchema>
