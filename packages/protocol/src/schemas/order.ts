import { Type, type Static } from '@sinclair/typebox'
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

export const MAX_CLIENT_ID_CHARS = 64

export const ORDER_STATUSES = [
  'prepared',
  'pending',
  'open',
  'filled',
  'rejected',
  'timed_out',
  'canceled',
  'expired',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** Reasons of the contracts for refusing an order. */
export const ORDER_REASONS = [
  'NONE',
  'PAUSED',
  'MARKET_CLOSED',
  'SLIPPAGE',
  'TP_REACHED',
  'SL_REACHED',
  'EXPOSURE_LIMITS',
  'PRICE_IMPACT',
  'MAX_LEVERAGE',
  'NO_TRADE',
  'WRONG_TRADE',
  'NOT_HIT',
  'LIQ_REACHED',
  'OTHER',
] as const
export type OrderReason = (typeof ORDER_REASONS)[number]

export const OrderTypeSchema = Type.Union([Type.Literal('market'), Type.Literal('limit'), Type.Literal('stop')])
export type OrderType = Static<typeof OrderTypeSchema>
export type Side = Static<typeof SideSchema>

export const FillSchema = Closed({
  price: DecimalSchema,
  size: DecimalSchema,
  collateral: DecimalSchema,
  feeCollateral: DecimalSchema,
  txHash: HexSchema,
  timestamp: TimestampSchema,
  positionId: Nullable(IdSchema),
})
export type Fill = Static<typeof FillSchema>

/**
 * An order. `collateral` is the symbol of its token. An order made by a close trades the side opposite to its
 * position's.
 */
export const OrderSchema = Closed({
  id: IdSchema,
  trader: AddressSchema,
  market: MarketSymbolSchema,
  side: SideSchema,
  type: OrderTypeSchema,
  size: DecimalSchema,
  price: Nullable(DecimalSchema),
  leverage: DecimalSchema,
  collateral: Type.String(),
  sl: Nullable(DecimalSchema),
  tp: Nullable(DecimalSchema),
  reduceOnly: Type.Boolean(),
  slippage: DecimalSchema,
  clientId: Nullable(Type.String()),
  status: Type.Union(ORDER_STATUSES.map((status) => Type.Literal(status))),
  txHash: Nullable(HexSchema),
  expiresAt: Nullable(TimestampSchema),
  fill: Nullable(FillSchema),
  reason: Nullable(Type.Union(ORDER_REASONS.map((reason) => Type.Literal(reason)))),
  createdAt: TimestampSchema,
  updatedAt: TimestampSchema,
})
export type Order = Static<typeof OrderSchema>

export const PreparedTransactionSchema = Closed({
  to: AddressSchema,
  data: HexSchema,
  value: Type.Literal('0'),
  chainId: Type.Integer(),
  gas: Nullable(Type.String()),
  expiresAt: TimestampSchema,
})
export type PreparedTransaction = Static<typeof PreparedTransactionSchema>

/**
 * A prepared order. `transaction` is null when nothing has to reach the chain, and while a reported one may still be
 * mined.
 */
export const PreparedOrderSchema = Closed({
  order: OrderSchema,
  transaction: Nullable(PreparedTransactionSchema),
  warnings: WarningsSchema,
})
export type PreparedOrder = Static<typeof PreparedOrderSchema>

export const CreateOrderRequestSchema = Closed({
  market: MarketSymbolSchema,
  side: SideSchema,
  type: OrderTypeSchema,
  size: DecimalSchema,
  leverage: DecimalSchema,
  price: Type.Optional(DecimalSchema),
  collateral: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
  sl: Type.Optional(DecimalSchema),
  tp: Type.Optional(DecimalSchema),
  reduceOnly: Type.Optional(Type.Boolean()),
  slippage: Type.Optional(DecimalSchema),
  clientId: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CLIENT_ID_CHARS })),
})
export type CreateOrderRequest = Static<typeof CreateOrderRequestSchema>

export const UpdateOrderRequestSchema = Closed({
  price: Type.Optional(DecimalSchema),
  size: Type.Optional(DecimalSchema),
  sl: Type.Optional(DecimalSchema),
  tp: Type.Optional(DecimalSchema),
  slippage: Type.Optional(DecimalSchema),
})
export type UpdateOrderRequest = Static<typeof UpdateOrderRequestSchema>

/** The report of a sent transaction. A hash has 32 bytes. */
export const SubmitOrderRequestSchema = Closed({ txHash: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }) })
export type SubmitOrderRequest = Static<typeof SubmitOrderRequestSchema>

export const OrderListSchema = Closed({ data: Type.Array(OrderSchema) })
export const OrderPageSchema = Closed({ data: Type.Array(OrderSchema), nextCursor: Nullable(Type.String()) })

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
export type FillAction = (typeof FILL_ACTIONS)[number]

/**
 * An entry of the account's history: an execution, or a refusal that cost something. Amounts are in units of the
 * collateral `collateralSymbol`, and a positive fee is paid by the trader. The fields from `orderId` on are null in
 * entries that an earlier version of the service stored; `orderId` and `clientId` also where there is no order.
 */
export const FillHistoryEntrySchema = Closed({
  id: Type.Integer(),
  market: Nullable(MarketSymbolSchema),
  action: Type.String(),
  side: SideSchema,
  price: DecimalSchema,
  size: DecimalSchema,
  collateral: DecimalSchema,
  leverage: DecimalSchema,
  /** Price profit of the closed part, before fees; "0" where nothing was closed. */
  pnl: DecimalSchema,
  timestamp: TimestampSchema,
  txHash: HexSchema,
  /** The position; of a `TradeOpenRefused` the id of its order, since there is no position. */
  positionId: IdSchema,
  /** The order that was executed or refused; null for a change of a position. */
  orderId: Nullable(IdSchema),
  clientId: Nullable(Type.String()),
  collateralSymbol: Nullable(Type.String()),
  /** Trading fee, or the fee charged for a refusal. */
  feeCollateral: Nullable(DecimalSchema),
  /** Funding fee that this entry realised; negative when the trader earned it. */
  fundingFee: Nullable(DecimalSchema),
  /** Borrowing fee that this entry realised. */
  borrowingFee: Nullable(DecimalSchema),
  /** Tokens that left the wallet for it. */
  deposit: Nullable(DecimalSchema),
  /** Tokens that reached the wallet with it. */
  payout: Nullable(DecimalSchema),
  /**
   * Part of `netPnl` that neither the price nor a fee explains: pnl - fees - holding fees - netPnl. "0" but for a
   * payout that was floored at 0 and for a liquidation.
   */
  forfeited: Nullable(DecimalSchema),
  /** Change of the account's worth by this entry. Over all entries of a position: all payouts - all deposits. */
  netPnl: Nullable(DecimalSchema),
})
export type FillHistoryEntry = Static<typeof FillHistoryEntrySchema>
export const FillPageSchema = Closed({ data: Type.Array(FillHistoryEntrySchema), nextCursor: Nullable(Type.String()) })
