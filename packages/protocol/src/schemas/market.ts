import { Type, type Static } from '@sinclair/typebox'
import {
  AddressSchema,
  AmountSchema,
  Closed,
  DecimalSchema,
  MarketSymbolSchema,
  OneOf,
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

const FUNDING_TEXTS = {
  fundingRateLongHourly:
    'Funding rate of longs in percent per hour of the position size: `0.01` is 0.01 %. Positive is paid, negative is received. "0" where the chain charges none.',
  fundingRateShortHourly:
    'Funding rate of shorts in percent per hour of the position size. Positive is paid, negative is received. "0" where the chain charges none.',
  borrowingRateHourly:
    'Borrowing rate in percent per hour of the position size, paid by both sides. It is the sum of both generations of borrowing; the first one is charged per block and is shown for the pace of the last 1,000 blocks, the present open interest and the side that pays more.',
  openInterestLongUsd: 'Size of all open longs in USD at the mark price, over all collaterals.',
  openInterestShortUsd: 'Size of all open shorts in USD at the mark price, over all collaterals.',
  skewUsd: 'Open interest of longs less that of shorts, in USD.',
}

const FUNDING =
  'Funding and borrowing rates of a market for the default collateral of the chain, in percent per hour, and its open interest.'

export const FundingSchema = Closed(fundingFields, FUNDING_TEXTS, { title: 'Funding', description: FUNDING })
export type Funding = Static<typeof FundingSchema>

export const MarketFundingSchema = Closed(
  { ...fundingFields, market: MarketSymbolSchema },
  { ...FUNDING_TEXTS, market: 'Symbol of the market.' },
  { title: 'MarketFunding', description: FUNDING },
)
export type MarketFunding = Static<typeof MarketFundingSchema>

export const MarketGroupSchema = OneOf(['crypto', 'forex', 'stocks', 'indices', 'commodities'], {
  title: 'MarketGroup',
  description: 'Class of the traded asset, which decides the trading hours.',
})
export type MarketGroup = Static<typeof MarketGroupSchema>

export const MarketCollateralSchema = Closed(
  { symbol: Type.String(), index: Type.Integer(), address: AddressSchema, decimals: Type.Integer() },
  {
    symbol: 'Symbol of the token, as `collateral` of an order takes it.',
    index: 'Index of the collateral on the Diamond, from 1 on.',
    address: 'Address of the token contract.',
    decimals: 'Decimals of the token: an amount has at most that many places after the point.',
  },
  { title: 'MarketCollateral', description: 'A token that positions of a market can be opened with.' },
)
export type MarketCollateral = Static<typeof MarketCollateralSchema>

const MarketFeesSchema = Closed(
  { openFeeRate: DecimalSchema, closeFeeRate: DecimalSchema, minPositionSizeUsd: DecimalSchema },
  {
    openFeeRate:
      "Fee of an opening as a fraction of its notional, collateral x leverage: `0.0006` is 0.06 %. The account's `feeTierMultiplier` lowers it.",
    closeFeeRate:
      "Fee of a close as a fraction of the closed notional at the entry, collateral x leverage: `0.0006` is 0.06 %. The account's `feeTierMultiplier` lowers it.",
    minPositionSizeUsd:
      'Notional in USD that fees are charged for at least: a smaller trade pays the fee of this notional.',
  },
  { title: 'MarketFees', description: 'Trading fees of a market. Rates are fractions of the notional.' },
)

export const MarketSchema = Closed(
  {
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
    fees: MarketFeesSchema,
    funding: FundingSchema,
    onlyIsolated: Type.Literal(true),
    collaterals: Type.Array(MarketCollateralSchema),
  },
  {
    symbol: 'Symbol of the market, as requests take it.',
    pairIndex: "Index of the pair on the Diamond; also the facade's asset id.",
    base: 'Traded asset, in whose units sizes are.',
    quote: 'Currency of the prices.',
    group: 'Class of the base asset.',
    groupIndex: "Index of the pair's group on the Diamond.",
    feeIndex: "Index of the pair's fees on the Diamond.",
    isOpen:
      'True while the trading session is open. While it is false, market orders, closes and changes of leverage or collateral answer MARKET_CLOSED; limit and stop orders are taken and wait.',
    minLeverage: 'Smallest leverage, a multiple of the collateral.',
    maxLeverage: 'Greatest leverage, a multiple of the collateral.',
    minCollateralUsd: 'Smallest collateral of an opening, in USD.',
    minPositionUsd: 'Smallest notional of an opening, in USD: `minCollateralUsd` x `minLeverage`.',
    pricePrecision: 'Places after the point that a price of a request may have. It never changes.',
    sizePrecision: 'Places after the point that a size of a request may have. It never changes.',
    spreadRate:
      'Fixed spread as a fraction of the price: `0.0004` is 0.04 %. A trade pays half of it, beside the price impact.',
    fees: 'Trading fees, as fractions of the notional.',
    funding: 'Rates in percent per hour, and the open interest.',
    onlyIsolated: 'Always true: each position has a collateral of its own.',
    collaterals: 'Tokens that positions can be opened with.',
  },
  { title: 'Market', description: 'A market that can be traded, with its bounds, fees and rates.' },
)
export type MarketRecord = Static<typeof MarketSchema>

export const PriceSchema = Closed(
  { market: MarketSymbolSchema, mark: DecimalSchema, index: DecimalSchema, updatedAt: TimestampSchema },
  {
    market: 'Symbol of the market.',
    mark: 'Mark price in the quote currency: trades execute at it, plus spread and price impact.',
    index: 'Index price in the quote currency: liquidations are judged by it.',
    updatedAt: 'Time at which the price came from the feed, in epoch milliseconds. A quiet market keeps its last one.',
  },
  { title: 'Price', description: 'The current prices of a market.' },
)
export type MarketPrice = Static<typeof PriceSchema>

export const BookLevelSchema = Closed(
  { price: DecimalSchema, size: AmountSchema, sizeUsd: AmountSchema, cumulativeUsd: AmountSchema },
  {
    price: 'Price at which the level begins, in the quote currency.',
    size: 'Depth of the level in base units.',
    sizeUsd: 'Depth of the level in USD.',
    cumulativeUsd: 'Depth from the best price to the end of the level, in USD.',
  },
  { title: 'BookLevel', description: "A band of the contracts' depth." },
)
export type BookLevel = Static<typeof BookLevelSchema>

export const OrderBookSchema = Closed(
  {
    market: MarketSymbolSchema,
    markPrice: DecimalSchema,
    bids: Type.Array(BookLevelSchema),
    asks: Type.Array(BookLevelSchema),
    timestamp: TimestampSchema,
  },
  {
    market: 'Symbol of the market.',
    markPrice: 'Mark price in the quote currency, between the best bid and the best ask.',
    bids: 'Levels below the mark, highest price first. The best one is what a small sell gets, skew apart.',
    asks: 'Levels above the mark, lowest price first. The best one is what a small buy pays, skew apart.',
    timestamp: 'Time of the mark price, in epoch milliseconds.',
  },
  {
    title: 'OrderBook',
    description:
      "The order book of a market, best levels first. No orders rest in it: each level is a band of the contracts' depth outside the spread, with recent volume and without the skew.",
  },
)
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
/** Width of a candle. */
export type CandleInterval = keyof typeof CANDLE_INTERVALS

export function isCandleInterval(value: unknown): value is CandleInterval {
  return typeof value === 'string' && Object.hasOwn(CANDLE_INTERVALS, value)
}

export const CandleIntervalSchema = OneOf(Object.keys(CANDLE_INTERVALS) as CandleInterval[], {
  title: 'CandleInterval',
  description: 'Width of a candle: minutes (`m`), hours (`h`) or days (`d`).',
})

export const CandleSchema = Closed(
  { time: TimestampSchema, open: DecimalSchema, high: DecimalSchema, low: DecimalSchema, close: DecimalSchema },
  {
    time: 'Begin of the candle in epoch milliseconds, a multiple of its width.',
    open: 'First mark price, in the quote currency.',
    high: 'Highest mark price, in the quote currency.',
    low: 'Lowest mark price, in the quote currency.',
    close: 'Last mark price, in the quote currency; of the current candle the latest one.',
  },
  {
    title: 'Candle',
    description: 'Mark prices from `time` on for one width. A width without prices repeats the close before it.',
  },
)
export type Candle = Static<typeof CandleSchema>

export const RecentTradeSchema = Closed(
  {
    market: MarketSymbolSchema,
    price: DecimalSchema,
    sizeUsd: AmountSchema,
    side: SideSchema,
    action: Type.String(),
    timestamp: TimestampSchema,
    txHash: Type.String(),
  },
  {
    market: 'Symbol of the market.',
    price: 'Execution price in the quote currency.',
    sizeUsd: 'Notional of the execution in USD: size x price.',
    side: 'Side of the position that was opened, closed or resized.',
    action:
      'Kind of the execution: `TradeOpenedMarket`, `TradeOpenedLimit`, `TradeClosedMarket`, `TradeClosedLIQ`, `TradeClosedSL`, `TradeClosedTP`, `TradeLeverageUpdate`, `TradePosSizeIncrease` or `TradePosSizeDecrease`.',
    timestamp: 'Time of its block in epoch milliseconds.',
    txHash: 'Hash of the transaction that executed it, 32 bytes.',
  },
  { title: 'RecentTrade', description: 'An execution in a market, of any trader.' },
)
export type RecentTrade = Static<typeof RecentTradeSchema>
