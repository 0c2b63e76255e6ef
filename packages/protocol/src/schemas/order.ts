import { Type, type Static } from '@sinclair/typebox'
import { DEFAULT_SLIPPAGE } from '../values/scales.ts'
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
  NEXT_CURSOR,
  NextCursorSchema,
  Nullable,
  OneOf,
  SideSchema,
  TimestampSchema,
} from './scalars.ts'
import { WARNINGS, WarningsSchema } from './warning.ts'

export const MAX_CLIENT_ID_CHARS = 64

/** The states of an order. */
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
/** State of an order. */
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** States of the orders that are listed as open. */
export const OPEN_ORDER_STATUSES = [
  'prepared',
  'pending',
  'open',
  'timed_out',
] as const satisfies readonly OrderStatus[]
/** State of an open order. */
export type OpenOrderStatus = (typeof OPEN_ORDER_STATUSES)[number]

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
/** Reason of the contracts for refusing an order; `OTHER` also when its transaction reverted. */
export type OrderReason = (typeof ORDER_REASONS)[number]

const OrderStatusSchema = OneOf(ORDER_STATUSES, {
  title: 'OrderStatus',
  description:
    '`prepared`: waits for your transaction until `expiresAt`. `pending`: sent, or waiting for the oracle. `open`: rests on the chain. `filled`: executed. `rejected`: refused, see `reason`. `timed_out`: the oracle did not answer and the collateral is locked; cancel it to get it back. `canceled`: cancelled, or reclaimed. `expired`: nothing was sent in time, or it was withdrawn.',
})

export const OrderReasonSchema = OneOf(ORDER_REASONS, {
  title: 'OrderReason',
  description: 'Reason of the contracts for refusing an order; `OTHER` also when its transaction reverted.',
})

export const OrderTypeSchema = OneOf(['market', 'limit', 'stop'], {
  title: 'OrderType',
  description:
    '`market`: executes at once. `limit`: buys once the market is at or below its price, and sells once it is at or above. `stop`: the reverse. The price is a trigger: spread and price impact come on top of it, as the preview says.',
})
export type OrderType = Static<typeof OrderTypeSchema>
/** `long` gains when the price rises, `short` when it falls. */
export type Side = 'long' | 'short'

export const FillSchema = Closed(
  {
    price: DecimalSchema,
    size: DecimalSchema,
    collateral: DecimalSchema,
    feeCollateral: DecimalSchema,
    txHash: HexSchema,
    timestamp: TimestampSchema,
    positionId: Nullable(IdSchema),
  },
  {
    price: 'Execution price in the quote currency, with spread and price impact. Of several closes, weighted by size.',
    size: 'Executed size in base units.',
    collateral: 'Collateral of the executed part, in tokens of the collateral.',
    feeCollateral:
      "Trading fee in tokens of the collateral: fee rate x collateral x leverage, at least that of the market's `fees.minPositionSizeUsd`, with the fee tier; positive when it was paid.",
    txHash: 'Hash of the transaction that executed it, 32 bytes.',
    timestamp: 'Time of its block in epoch milliseconds.',
    positionId: 'Id of the position that was opened, enlarged or closed; null when it is not known.',
  },
  { title: 'Fill', description: 'The execution of an order.' },
)
export type Fill = Static<typeof FillSchema>

export const OrderSchema = Closed(
  {
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
    status: OrderStatusSchema,
    txHash: Nullable(HexSchema),
    expiresAt: Nullable(TimestampSchema),
    fill: Nullable(FillSchema),
    reason: Nullable(OrderReasonSchema),
    createdAt: TimestampSchema,
    updatedAt: TimestampSchema,
  },
  {
    id: 'Id of the order, the same for ever.',
    trader: 'Address of the trader whose order it is.',
    market: 'Symbol of the market.',
    side: "Side that it trades. A close trades the side opposite to its position's.",
    type: 'Kind of the order.',
    size: 'Size that was asked for, in base units. `fill.size` is what was executed.',
    price:
      'Price in the quote currency: the trigger of a limit or stop order, for a market order the price that `slippage` is measured from; null when a market order named none.',
    leverage: 'Leverage, a multiple of the collateral, with at most 3 decimals.',
    collateral: 'Symbol of the token that pays for the position, not an amount.',
    sl: 'Stop loss in the quote currency; null when there is none.',
    tp: 'Take profit in the quote currency; null when there is none.',
    reduceOnly: 'True when it only closes: an order of closePosition, or one that asked for it.',
    slippage:
      'Greatest difference between the expected price, which is `price` or the mark, and the execution price, in percent: `1` is 1 %.',
    clientId: 'Idempotency key of the caller; null when there is none.',
    status: 'State of the order now.',
    txHash: 'Hash of the transaction that placed it, 32 bytes; null before one is known.',
    expiresAt:
      'Time in epoch milliseconds from which the prepared transaction must not be sent any more; null once it is on the chain, or has expired.',
    fill: 'Execution of the order; null until it is filled.',
    reason: 'Reason of the refusal, or of the first refused part of a close; null when nothing was refused.',
    createdAt: 'Time at which the service first knew the order, in epoch milliseconds.',
    updatedAt: 'Time of its last change, in epoch milliseconds.',
  },
  { title: 'Order', description: 'A request to trade and what became of it. All fields are always present.' },
)
export type Order = Static<typeof OrderSchema>

export const PreparedTransactionSchema = Closed(
  {
    to: AddressSchema,
    data: HexSchema,
    value: Type.Literal('0'),
    chainId: Type.Integer(),
    gas: Nullable(Type.String()),
    expiresAt: TimestampSchema,
  },
  {
    to: 'Diamond of the chain.',
    data: 'Calldata, to be sent unchanged: its last 8 bytes tell the service which order it is.',
    value: 'Native coins to send with it: always "0".',
    chainId: 'Id of the chain that it is for.',
    gas: "Gas limit estimated from the agent's account, a whole number as text; null when it could not be estimated.",
    expiresAt: 'Time in epoch milliseconds from which it must not be sent any more: prepare again.',
  },
  {
    title: 'PreparedTransaction',
    description: 'A transaction for the agent to sign and send unchanged. The wallet adds nonce and fees.',
  },
)
export type PreparedTransaction = Static<typeof PreparedTransactionSchema>

export const PreparedOrderSchema = Closed(
  { order: OrderSchema, transaction: Nullable(PreparedTransactionSchema), warnings: WarningsSchema },
  {
    order: 'The order as it is now, with the terms that it will have once the transaction is mined.',
    transaction:
      'Transaction to sign and send; null when nothing has to reach the chain, and while one that was reported may still be mined.',
    warnings: WARNINGS,
  },
  { title: 'PreparedOrder', description: 'An order, and the transaction that brings it to the chain.' },
)
export type PreparedOrder = Static<typeof PreparedOrderSchema>

const SlippageSchema = Type.Optional(Annotated(DecimalSchema, { default: DEFAULT_SLIPPAGE }))
const SLIPPAGE =
  'Greatest difference between the expected and the execution price, in percent: `1` is 1 %. From 0.001 to 65.535, with at most 3 decimals.'
const ON_PRICES = "with at most the market's `pricePrecision` decimals"

export const CreateOrderRequestSchema = Closed(
  {
    market: MarketSymbolSchema,
    side: SideSchema,
    type: OrderTypeSchema,
    size: DecimalSchema,
    leverage: DecimalSchema,
    price: Type.Optional(DecimalSchema),
    collateral: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
    sl: Type.Optional(DecimalSchema),
    tp: Type.Optional(DecimalSchema),
    reduceOnly: Type.Optional(Annotated(Type.Boolean(), { default: false })),
    slippage: SlippageSchema,
    clientId: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CLIENT_ID_CHARS })),
  },
  {
    market: 'Symbol of the market.',
    side: 'Side to trade.',
    type: 'Kind of the order.',
    size: "Size in base units, above 0, with at most the market's `sizePrecision` decimals. Size x price is the notional in USD.",
    leverage:
      "Leverage, a multiple of the collateral, between the market's `minLeverage` and `maxLeverage`, with at most 3 decimals. The collateral is derived from it.",
    price: `Price in the quote currency, above 0, ${ON_PRICES}. Required for a limit or stop order, which it triggers. For a market order, the price that \`slippage\` is measured from. Default for a market order: the mark.`,
    collateral:
      "Symbol of the token that pays. Default: USDC where the chain has it, else the chain's only active collateral; with `reduceOnly` that of the oldest position.",
    sl: `Stop loss in the quote currency, ${ON_PRICES}. Default: none; "0" is none too.`,
    tp: `Take profit in the quote currency, ${ON_PRICES}. Default: none; "0" is none too.`,
    reduceOnly:
      'True to close positions of the other side, oldest first, and never open one. Market orders only, without `sl` and `tp`. Default false.',
    slippage: `${SLIPPAGE} Default ${DEFAULT_SLIPPAGE}.`,
    clientId: `Idempotency key, 1 to ${MAX_CLIENT_ID_CHARS} characters: the same key with the same order answers that order again. Default: none.`,
  },
  { title: 'CreateOrderRequest', description: 'An order to prepare.' },
)
export type CreateOrderRequest = Static<typeof CreateOrderRequestSchema>

export const UpdateOrderRequestSchema = Closed(
  {
    price: Type.Optional(DecimalSchema),
    size: Type.Optional(DecimalSchema),
    sl: Type.Optional(DecimalSchema),
    tp: Type.Optional(DecimalSchema),
    slippage: Type.Optional(DecimalSchema),
  },
  {
    price: `New trigger price in the quote currency, above 0, ${ON_PRICES}. Default: unchanged.`,
    size: "New size in base units, above 0, with at most the market's `sizePrecision` decimals. Default: unchanged.",
    sl: `New stop loss in the quote currency, ${ON_PRICES}; "0" clears it. Default: unchanged.`,
    tp: `New take profit in the quote currency, ${ON_PRICES}; "0" clears it. Default: unchanged.`,
    slippage: `${SLIPPAGE} Default: unchanged.`,
  },
  { title: 'UpdateOrderRequest', description: 'A change of a resting order. At least one field is needed.' },
)
export type UpdateOrderRequest = Static<typeof UpdateOrderRequestSchema>

export const SubmitOrderRequestSchema = Closed(
  { txHash: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }) },
  { txHash: 'Hash of the transaction that was sent for the order, 32 bytes.' },
  { title: 'SubmitOrderRequest', description: 'The report of a sent transaction.' },
)
export type SubmitOrderRequest = Static<typeof SubmitOrderRequestSchema>

export const OrderListSchema = Closed(
  { data: Type.Array(OrderSchema), nextCursor: ListCursorSchema },
  { data: 'Orders, newest first.', nextCursor: LIST_CURSOR },
  { title: 'OrderList', description: 'A list of orders.' },
)

export const OrderPageSchema = Closed(
  { data: Type.Array(OrderSchema), nextCursor: NextCursorSchema },
  { data: 'Orders, newest first.', nextCursor: NEXT_CURSOR },
  { title: 'OrderPage', description: 'A page of orders.' },
)
