import { Type, type Static } from '@sinclair/typebox'
import {
  Closed,
  DecimalSchema,
  HexSchema,
  IdSchema,
  MarketSymbolSchema,
  NEXT_CURSOR,
  NextCursorSchema,
  Nullable,
  OneOf,
  SideSchema,
  TimestampSchema,
} from './scalars.ts'

/**
 * Kinds of entries of the history of fills, in the words of the contracts' own trading history. The last two are
 * refusals that cost something: of an open, and of a close or a change of a position. They are no executions, so the
 * tape of a market never shows them.
 */
export const FILL_ACTIONS = [
  'TradeOpenedMarket',
  'TradeOpenedLimit',
  'TradeClosedMarket',
  'TradeClosedLIQ',
  'TradeClosedSL',
  'TradeClosedTP',
  'TradeLeverageUpdate',
  'TradePosSizeIncrease',
  'TradePosSizeDecrease',
  'TradeOpenRefused',
  'TradeUpdateRefused',
] as const
/** Kind of an entry of the fills: how a position was opened, changed or closed, or that it was refused. */
export type FillAction = (typeof FILL_ACTIONS)[number]

const FillActionSchema = OneOf(FILL_ACTIONS, {
  title: 'FillAction',
  description:
    'Kind of an entry of the history: how a position was opened, changed or closed. `TradeOpenRefused` and `TradeUpdateRefused` are refusals that cost something, with size and pnl "0".',
})

/** Ends the text of a field that entries of an earlier version of the service lack. */
const OLD = 'Null in entries that an earlier version stored.'

export const FillHistoryEntrySchema = Closed(
  {
    id: Type.Integer(),
    market: Nullable(MarketSymbolSchema),
    action: FillActionSchema,
    side: SideSchema,
    price: DecimalSchema,
    size: DecimalSchema,
    collateral: DecimalSchema,
    leverage: DecimalSchema,
    pnl: DecimalSchema,
    timestamp: TimestampSchema,
    txHash: HexSchema,
    positionId: IdSchema,
    orderId: Nullable(IdSchema),
    clientId: Nullable(Type.String()),
    collateralSymbol: Nullable(Type.String()),
    feeCollateral: Nullable(DecimalSchema),
    fundingFee: Nullable(DecimalSchema),
    borrowingFee: Nullable(DecimalSchema),
    deposit: Nullable(DecimalSchema),
    payout: Nullable(DecimalSchema),
    forfeited: Nullable(DecimalSchema),
    netPnl: Nullable(DecimalSchema),
  },
  {
    id: 'Number of the entry. Later entries have higher ones.',
    market: 'Symbol of the market; null when its pair is not listed any more.',
    action: 'Kind of the entry.',
    side: 'Side of the position.',
    price: 'Execution price in the quote currency; "0" of a refusal.',
    size: 'Executed size in base units; "0" of a refusal.',
    collateral: 'Collateral of the executed part, in tokens of the collateral.',
    leverage: 'Leverage of the executed part, a multiple of the collateral.',
    pnl: 'Price profit of the closed part before fees, in tokens of the collateral; "0" where nothing was closed.',
    timestamp: 'Time of its block in epoch milliseconds.',
    txHash: 'Hash of the transaction, 32 bytes.',
    positionId: 'Id of the position; of a `TradeOpenRefused` the id of its order, since there is no position.',
    orderId: `Id of the order that was executed or refused; null for a change of a position, which is no order. ${OLD}`,
    clientId: `Idempotency key of that order; null when it has none. ${OLD}`,
    collateralSymbol: `Symbol of the token that the amounts are in. ${OLD}`,
    feeCollateral: `Trading fee, or the fee charged for a refusal, in tokens of the collateral; positive when it was paid. ${OLD}`,
    fundingFee: `Funding fee that the entry realised, in tokens of the collateral; negative when it was earned. ${OLD}`,
    borrowingFee: `Borrowing fee that the entry realised, in tokens of the collateral. ${OLD}`,
    deposit: `Tokens that left the wallet for it. ${OLD}`,
    payout: `Tokens that reached the wallet with it. ${OLD}`,
    forfeited: `Part of \`netPnl\` that neither the price nor a fee explains, in tokens: pnl - fees - holding fees - netPnl. "0" but for a liquidation and a payout that was floored at 0. ${OLD}`,
    netPnl: `Change of the account's worth by this entry, in tokens: pnl - feeCollateral - fundingFee - borrowingFee - forfeited. Over all entries of a position it is all payouts less all deposits. ${OLD}`,
  },
  {
    title: 'FillHistoryEntry',
    description: "An entry of the account's history: an execution, or a refusal that cost something.",
  },
)
export type FillHistoryEntry = Static<typeof FillHistoryEntrySchema>

export const FillPageSchema = Closed(
  { data: Type.Array(FillHistoryEntrySchema), nextCursor: NextCursorSchema },
  { data: 'Entries, newest first.', nextCursor: NEXT_CURSOR },
  { title: 'FillPage', description: "A page of the account's history." },
)
