import { Type, type Static } from '@sinclair/typebox'
import {
  AddressSchema,
  AmountSchema,
  Closed,
  DecimalSchema,
  MarketSymbolSchema,
  SideSchema,
  TimestampSchema,
} from './scalars.ts'

const fundingFields = {
  fundingRateLongHourly: DecimalSchema,
  fundingRateShortHourly: DecimalSchema,
  borrowingRateHourly: DecimalSchema,
  openInterestLongUsd: DecimalSchema,
  openInterestShortUsd: DecimalSchema,
  skewUsd: DecimalSchema,
}

/**
 * Funding of a market. Rates are percent per hour, positive when paid; open interest and skew are sums over all
 * collaterals. `borrowingRateHourly` is the sum of both generations of borrowing; of the first one, charged per block,
 * it has that of the side that pays more, at the pace of the last 1,000 blocks.
 */
export const FundingSchema = Closed(fundingFields)
export type Funding = Static<typeof FundingSchema>
export const MarketFundingSchema = Closed({ ...fundingFields, market: MarketSymbolSchema })

export const MarketGroupSchema = Type.Union([
  Type.Literal('crypto'),
  Type.Literal('forex'),
  Type.Literal('stocks'),
  Type.Literal('indices'),
  Type.Literal('commodities'),
])
export type MarketGroup = Static<typeof MarketGroupSchema>

export const MarketCollateralSchema = Closed({
  symbol: Type.String(),
  index: Type.Integer(),
  address: AddressSchema,
  decimals: Type.Integer(),
})
export type MarketCollateral = Static<typeof MarketCollateralSchema>

export const MarketSchema = Closed({
  symbol: MarketSymbolSchema,
  pairIndex: Type.Integer(),
  base: Type.String(),
  quote: Type.String(),
  group: MarketGroupSchema,
  groupIndex: Type.Integer(),
  feeIndex: Type.Integer(),
  isOpen: Type.Boolean(),
  minLeverage: DecimalSchema,
  maxLeverage: DecimalSchema,
  minCollateralUsd: DecimalSchema,
  minPositionUsd: DecimalSchema,
  pricePrecision: Type.Integer(),
  sizePrecision: Type.Integer(),
  spreadRate: DecimalSchema,
  fees: Closed({ openFeeRate: DecimalSchema, closeFeeRate: DecimalSchema, minPositionSizeUsd: DecimalSchema }),
  funding: FundingSchema,
  onlyIsolated: Type.Literal(true),
  collaterals: Type.Array(MarketCollateralSchema),
})
export type MarketRecord = Static<typeof MarketSchema>

export const PriceSchema = Closed({
  market: MarketSymbolSchema,
  mark: DecimalSchema,
  index: DecimalSchema,
  updatedAt: TimestampSchema,
})
export type MarketPrice = Static<typeof PriceSchema>

/**
 * A level of the order book. `price` is where it begins; `size` is in base units; `cumulativeUsd` is the depth from the
 * best price to the end of the level.
 */
export const BookLevelSchema = Closed({
  price: DecimalSchema,
  size: AmountSchema,
  sizeUsd: AmountSchema,
  cumulativeUsd: AmountSchema,
})
export type BookLevel = Static<typeof BookLevelSchema>

/**
 * The order book of a market, best levels first. No orders rest in it: each level is a band of the contracts' depth,
 * outside the spread. The best ask is what a small buy pays.
 */
export const OrderBookSchema = Closed({
  market: MarketSymbolSchema,
  markPrice: DecimalSchema,
  bids: Type.Array(BookLevelSchema),
  asks: Type.Array(BookLevelSchema),
  timestamp: TimestampSchema,
})
export type OrderBook = Static<typeof OrderBookSchema>

const MINUTE_MS = 60_000

/** Widths of candles in milliseconds. */
export const CANDLE_INTERVALS = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '1d': 1_440 * MINUTE_MS,
} as const
export type CandleInterval = keyof typeof CANDLE_INTERVALS

export function isCandleInterval(value: unknown): value is CandleInterval {
  return typeof value === 'string' && Object.hasOwn(CANDLE_INTERVALS, value)
}

export const CandleIntervalSchema = Type.Union(
  (Object.keys(CANDLE_INTERVALS) as CandleInterval[]).map((interval) => Type.Literal(interval)),
)

/** A candle of mark prices in `[time, time + width)`. */
export const CandleSchema = Closed({
  time: TimestampSchema,
  open: DecimalSchema,
  high: DecimalSchema,
  low: DecimalSchema,
  close: DecimalSchema,
})
export type Candle = Static<typeof CandleSchema>

/** An execution in a market. `side` is that of the position which was opened, closed or resized. */
export const RecentTradeSchema = Closed({
  market: MarketSymbolSchema,
  price: DecimalSchema,
  sizeUsd: AmountSchema,
  side: SideSchema,
  action: Type.String(),
  timestamp: TimestampSchema,
  txHash: Type.String(),
})
export type RecentTrade = Static<typeof RecentTradeSchema>
