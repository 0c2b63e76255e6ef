import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Closed, DecimalSchema, MarketSymbolSchema, TimestampSchema } from './scalars.ts'

const fundingFields = {
  fundingRateLongHourly: DecimalSchema,
  fundingRateShortHourly: DecimalSchema,
  borrowingRateHourly: DecimalSchema,
  openInterestLongUsd: DecimalSchema,
  openInterestShortUsd: DecimalSchema,
  skewUsd: DecimalSchema,
}

/** Rates are percent per hour, positive when paid; open interest and skew are sums over the chain's collaterals. */
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
export type Price = Static<typeof PriceSchema>
