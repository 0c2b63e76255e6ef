import { Type, type Static } from '@sinclair/typebox'
import { TransactionRequestSchema, type TransactionRequest } from './agent.ts'
import { OrderReasonSchema, OrderTypeSchema } from './order.ts'
import {
  AddressSchema,
  Annotated,
  Closed,
  DecimalSchema,
  IdSchema,
  MarketSymbolSchema,
  Nullable,
  OneOf,
  SideSchema,
  TimestampSchema,
} from './scalars.ts'
import { WarningSchema } from './warning.ts'

// Previews: what an order, a close or a change of a position would cost and do. Names and units are those of the
// answers that it leads to: a field that a fill or a position has too means the same here. A field that ends in `Rate`
// is a fraction of one, as in the records of markets: `0.0004` is 0.04 %.

/** The kinds of conditions that a request can lack. */
export const MISSING_KINDS = ['balance', 'allowance', 'delegation', 'scope'] as const
/** Kind of a condition that is not met. */
export type MissingKind = (typeof MISSING_KINDS)[number]

/** The fields of every condition that is not met. */
interface MissingCondition {
  /** Code of the error with which the real request would be refused. */
  readonly code: string
  /** The condition that is not met, in words. */
  readonly message: string
  /** The remedy in words, and who has to apply it. */
  readonly remedy: string
}

/** Tokens of which there are too few. */
interface MissingTokens extends MissingCondition {
  /** Symbol of the token. */
  readonly collateral: string
  /** Tokens that the request needs, in whole tokens. */
  readonly needed: string
  /** Tokens that there are, in whole tokens. */
  readonly available: string
}

/** A condition that is no matter of tokens. */
interface MissingRight extends MissingCondition {
  /** Null: it is no matter of tokens. */
  readonly collateral: null
  /** Null: it is no matter of tokens. */
  readonly needed: null
  /** Null: it is no matter of tokens. */
  readonly available: null
}

/** Tokens that are missing in the trader's wallet. */
export interface MissingBalance extends MissingTokens {
  /** Kind of the condition. */
  readonly kind: 'balance'
  /** Null: they are paid in. */
  readonly transaction: null
}

/** Tokens that the Diamond may not take from the trader's wallet yet. */
export interface MissingAllowance extends MissingTokens {
  /** Kind of the condition. */
  readonly kind: 'allowance'
  /** The `approve` that the trader's wallet sends. */
  readonly transaction: TransactionRequest
}

/** The delegation of the agent, which the trader's wallet has not sent yet. */
export interface MissingDelegation extends MissingRight {
  /** Kind of the condition. */
  readonly kind: 'delegation'
  /** The `setTradingDelegate` that the trader's wallet sends. */
  readonly transaction: TransactionRequest
}

/** A right that the agent's scope does not give. */
export interface MissingScope extends MissingRight {
  /** Kind of the condition. */
  readonly kind: 'scope'
  /** Null: a scope is signed anew. */
  readonly transaction: null
}

/** A condition of the real request that is not met yet, with its remedy. `kind` says which fields it has. */
export type Missing = MissingBalance | MissingAllowance | MissingDelegation | MissingScope

export const MissingSchema = Type.Unsafe<Missing>(
  Closed(
    {
      kind: OneOf(MISSING_KINDS),
      code: Type.String(),
      message: Type.String(),
      remedy: Type.String(),
      collateral: Nullable(Type.String()),
      needed: Nullable(DecimalSchema),
      available: Nullable(DecimalSchema),
      transaction: Nullable(TransactionRequestSchema),
    },
    {
      kind: "Kind of the condition: tokens in the trader's wallet, the trader's allowance for the Diamond, the trader's delegation to the agent, or a right of the agent's scope.",
      code: 'Code of the error with which the real request would be refused.',
      message: 'The condition that is not met, in words.',
      remedy: 'The remedy in words, and who has to apply it.',
      collateral: 'Symbol of the token of which there is too little; null for `delegation` and `scope`.',
      needed: 'Tokens that the request needs, in whole tokens; null for `delegation` and `scope`.',
      available: 'Tokens that there are, in whole tokens; null for `delegation` and `scope`.',
      transaction:
        "Transaction that the trader's wallet sends to remedy it: `approve` for an allowance, `setTradingDelegate` for a delegation. Null where no transaction does: a balance is paid in, a scope is signed anew.",
    },
    { title: 'Missing', description: 'A condition of the real request that is not met yet, with its remedy.' },
  ),
)

export const SpendSchema = Closed(
  {
    agent: AddressSchema,
    spentUsd: DecimalSchema,
    afterUsd: DecimalSchema,
    dailySpendCapUsd: Nullable(DecimalSchema),
    resetsAt: TimestampSchema,
  },
  {
    agent: 'Agent whose spend it is.',
    spentUsd:
      'Notional in USD that counts against the cap of the agent today (UTC), orders that are only prepared included.',
    afterUsd: 'The same with this request, in USD. What opens nothing adds nothing.',
    dailySpendCapUsd: "Daily cap of the agent's scope in USD; null when it has none.",
    resetsAt: 'The next midnight in UTC, when the count starts again at 0.',
  },
  { title: 'Spend', description: "An agent's spend of the day, before and after the request." },
)
export type Spend = Static<typeof SpendSchema>

export const SimulationSchema = Closed(
  {
    passed: Type.Boolean(),
    gas: Nullable(Type.String()),
    errorName: Nullable(Type.String()),
    message: Nullable(Type.String()),
  },
  {
    passed: 'True when the transaction of the request would be mined successfully now.',
    gas: 'Gas limit that the real request would answer with, in units of gas; null when it could not be estimated.',
    errorName: "Name of the contracts' error, as in `details.errorName` of SIMULATION_REVERTED; null when it passed.",
    message: 'The refusal in words; null when it passed.',
  },
  { title: 'Simulation', description: 'The outcome of a simulation on the latest block.' },
)
export type Simulation = Static<typeof SimulationSchema>

/** The fields that every preview ends with. */
const circumstances = {
  reason: Annotated(Nullable(OrderReasonSchema), { examples: ['SLIPPAGE'] }),
  warnings: Type.Array(WarningSchema),
  missing: Type.Array(MissingSchema),
  spend: Nullable(SpendSchema),
  simulation: Nullable(SimulationSchema),
  priceAt: TimestampSchema,
  block: Type.Integer({ minimum: 0 }),
}

const CIRCUMSTANCES = {
  reason:
    'Reason for which the contracts would refuse it at this price when the oracle answers; null when they would execute it. A refusal costs a small fee, and the other numbers are those of the execution that does not happen.',
  warnings:
    'Differences between what was asked and what would happen, as the real answer has them; empty when there are none.',
  missing:
    'Conditions that are not met yet, each with its remedy; empty when nothing is missing. A delegation is listed to a read-only key that names an `agent`: an agent that signs must be the delegate already, and is refused with AGENT_NOT_DELEGATED and the transaction otherwise.',
  spend: "Spend of the agent's day; null when no agent is known: a read-only key that names no `agent`.",
  simulation: 'Outcome of the simulation; null unless the query says `simulate=true`.',
  priceAt: 'Time at which the mark that was used came from the price feed.',
  block: 'Block at which recent volume and open interest were read. What was traded later is not in these numbers.',
}

export const PreviewLegSchema = Closed(
  {
    positionId: IdSchema,
    size: DecimalSchema,
    price: DecimalSchema,
    feeCollateral: DecimalSchema,
    payout: DecimalSchema,
    reason: circumstances.reason,
  },
  {
    positionId: 'Position that is closed, in full or in part.',
    size: 'Size of it that will be closed, in base units; `0` when this part would be refused.',
    price: 'Expected execution price, in quote currency.',
    feeCollateral: 'Closing fee in tokens of the collateral.',
    payout: 'Tokens that reach the wallet, in tokens of the collateral.',
    reason: 'Reason for which the contracts would refuse this part; null when they would execute it.',
  },
  { title: 'PreviewLeg', description: 'The part of a close that concerns one position.' },
)
export type PreviewLeg = Static<typeof PreviewLegSchema>

export const OrderPreviewSchema = Closed(
  {
    market: MarketSymbolSchema,
    side: SideSchema,
    type: OrderTypeSchema,
    reduceOnly: Type.Boolean(),
    size: DecimalSchema,
    notionalUsd: DecimalSchema,
    leverage: DecimalSchema,
    effectiveLeverage: Nullable(DecimalSchema),
    collateral: DecimalSchema,
    collateralSymbol: Type.String(),
    slippage: DecimalSchema,
    oraclePrice: DecimalSchema,
    price: DecimalSchema,
    spreadRate: DecimalSchema,
    volumeImpactRate: DecimalSchema,
    skewImpactRate: DecimalSchema,
    priceImpactRate: DecimalSchema,
    feeCollateral: DecimalSchema,
    feeRate: DecimalSchema,
    deposit: DecimalSchema,
    payout: DecimalSchema,
    pnl: DecimalSchema,
    fundingFee: DecimalSchema,
    borrowingFee: DecimalSchema,
    liquidationPrice: Nullable(DecimalSchema),
    sl: Nullable(DecimalSchema),
    tp: Nullable(DecimalSchema),
    legs: Type.Array(PreviewLegSchema),
    ...circumstances,
  },
  {
    market: 'Market of the order.',
    side: 'Side that the order trades. A close trades the side opposite to its position.',
    type: 'Type of the order. A close is a `market` order.',
    reduceOnly: 'True when it only makes positions smaller.',
    size: 'Size that will fill, in base units, as the fill will say it; `0` when `reason` says that nothing will.',
    notionalUsd:
      'Notional in USD on which the fee is charged: of an opening size x price before skew, which counts against the daily cap; of a close the collateral x leverage of the part.',
    leverage: 'Leverage as a factor; of a close that of the first position.',
    effectiveLeverage:
      'Size at the price of the oracle / what the position is worth there after its fees, as a factor. Null when no position is left, or nothing of its worth.',
    collateral:
      'Collateral of what is traded, in tokens of the collateral: of the new position, or of the part that closes.',
    collateralSymbol: 'Symbol of the collateral. Amounts without USD in their name are in whole tokens of it.',
    slippage: 'Slippage in percent: `1` is 1 %.',
    oraclePrice:
      'Price of the oracle that is assumed, in quote currency: the mark, or for an order that rests the price at which its trigger is reached.',
    price:
      'Expected execution price in quote currency: `oraclePrice` moved by spread, volume and skew. Of several legs the average by size.',
    spreadRate:
      'Half of the spread as a fraction of `oraclePrice`: `0.0002` is 0.02 %. Positive costs the trader, as in the next three fields.',
    volumeImpactRate:
      'Price impact of the size and of the recent volume, as a fraction of `oraclePrice`: `0.0002` is 0.02 %.',
    skewImpactRate:
      'Price impact of the skew between longs and shorts, as a fraction of `oraclePrice`: `0.0002` is 0.02 %. Negative where the trade reduces the skew.',
    priceImpactRate: 'Sum of the three, as a fraction of `oraclePrice`: `0.0002` is 0.02 %.',
    feeCollateral: 'Trading fee in tokens of the collateral.',
    feeRate:
      "Trading fee as a fraction of the notional after the trader's fee tier: `0.0006` is 0.06 %. A notional below `fees.minPositionSizeUsd` of the market pays the fee of that size.",
    deposit: 'Tokens that leave the wallet, in tokens of the collateral.',
    payout: 'Tokens that reach the wallet, in tokens of the collateral.',
    pnl: 'Price profit of what closes, before all fees, in tokens of the collateral; `0` where nothing closes.',
    fundingFee: 'Funding fee that a close realises, in tokens of the collateral; negative when the trader earned it.',
    borrowingFee: 'Borrowing fee that a close realises, in tokens of the collateral.',
    liquidationPrice:
      'Liquidation price of the position afterwards, in quote currency: of an opening the new one, of a close the one of which a part is left. Null when a close leaves nothing.',
    sl: 'Stop loss that the contracts will keep, in quote currency; null for none.',
    tp: 'Take profit, in quote currency; null for none.',
    legs: 'Positions that it closes, oldest first; empty for an opening. The sums and averages of the other fields are over the legs that fill, or over all where none does.',
    ...CIRCUMSTANCES,
  },
  {
    title: 'OrderPreview',
    description:
      'What an order or a close would do and cost now. While price, volume and the token of the collateral stand still, the fill has these numbers to the last unit; holding fees go on by the second.',
  },
)
export type OrderPreview = Static<typeof OrderPreviewSchema>

export const PositionPreviewSchema = Closed(
  {
    positionId: IdSchema,
    market: MarketSymbolSchema,
    side: SideSchema,
    size: DecimalSchema,
    leverage: DecimalSchema,
    effectiveLeverage: Nullable(DecimalSchema),
    collateral: DecimalSchema,
    collateralSymbol: Type.String(),
    oraclePrice: DecimalSchema,
    feeCollateral: DecimalSchema,
    deposit: DecimalSchema,
    payout: DecimalSchema,
    liquidationPrice: DecimalSchema,
    sl: DecimalSchema,
    tp: DecimalSchema,
    ...circumstances,
  },
  {
    positionId: 'The position.',
    market: 'Market of the position.',
    side: 'Side of the position.',
    size: 'Size of the position in base units, which no change of it moves.',
    leverage: 'Leverage after the change, as a factor.',
    effectiveLeverage:
      'Size at the price of the oracle / what the position is worth there after its fees, as a factor. Null when it is worth nothing.',
    collateral: 'Collateral after the change, in tokens of the collateral.',
    collateralSymbol: 'Symbol of the collateral. Amounts are in whole tokens of it.',
    oraclePrice: 'Price of the oracle that is assumed, in quote currency: the last mark.',
    feeCollateral: 'Fee of the change in tokens of the collateral; `0` for stops.',
    deposit: 'Tokens that leave the wallet, in tokens of the collateral.',
    payout: 'Tokens that reach the wallet, in tokens of the collateral.',
    liquidationPrice: 'Liquidation price after the change, in quote currency.',
    sl: 'Stop loss that the contracts will keep, in quote currency; `0` for none.',
    tp: 'Take profit, in quote currency; `0` for none.',
    ...CIRCUMSTANCES,
  },
  {
    title: 'PositionPreview',
    description: 'What a position would be after a change, and what the change would cost now.',
  },
)
export type PositionPreview = Static<typeof PositionPreviewSchema>
