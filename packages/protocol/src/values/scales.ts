import type { Brand } from './identifiers.ts'
import { formatDecimal, scaleDecimal, scaleDecimalTruncated, type Decimal } from './decimal.ts'

// The scales of every integer that stands for a decimal number. A value is a plain bigint at run time; its type says
// what it counts, so the compiler refuses a price where a size is due. Arithmetic gives a bigint without a unit: the
// formula names the unit of its result with `of`.

/** A price of one base unit in the quote currency, 1e10. */
export type Price = Brand<bigint, 'Price'>

export const Price = scaleOf<Price>(10)

/** An amount of USD, 1e18. */
export type Usd = Brand<bigint, 'Usd'>

export const Usd = scaleOf<Usd>(18)

/**
 * A number of an answer, whatever its unit, 1e18: no answer has more decimals. For what is shown, never for what is
 * sent.
 */
export type ShownNumber = Brand<bigint, 'ShownNumber'>

export const ShownNumber = scaleOf<ShownNumber>(18)

/** An amount of USD as the facade counts it, 1e6: the decimals of USDC. */
export type MicroUsd = Brand<bigint, 'MicroUsd'>

export const MicroUsd = scaleOf<MicroUsd>(6)

/** A size in base units, 1e18: size x price is USD. */
export type BaseSize = Brand<bigint, 'BaseSize'>

export const BaseSize = scaleOf<BaseSize>(18)

/**
 * A size as the Diamond keeps it, 1e18: size x price is an amount of the trade's collateral, whatever that costs. Sizes
 * in two collaterals can't be added; a `BaseSize` is what people count.
 */
export type TokenSize = Brand<bigint, 'TokenSize'>

export const TokenSize = scaleOf<TokenSize>(18)

/** A leverage, 1e3; also the scale of the Diamond's multipliers. */
export type Leverage = Brand<bigint, 'Leverage'>

export const Leverage = scaleOf<Leverage>(3)

/** A percentage as the Diamond keeps it in names that end in P: 1 % is 1e10. */
export type PercentP = Brand<bigint, 'PercentP'>

export const PercentP = scaleOf<PercentP>(10)

export const HUNDRED_PERCENT = PercentP.of(100n * PercentP.one)

/** The integer of a `PercentP` read as a share of one: 1 % is 0.01. */
export type Fraction = Brand<bigint, 'Fraction'>

export const Fraction = scaleOf<Fraction>(PercentP.decimals + 2)

/** A slippage: 1 % is 1e3. */
export type Slippage = Brand<bigint, 'Slippage'>

export const Slippage = scaleOf<Slippage>(3)

/** Percent; the slippage of an order and a close that name none, and of a close on the Diamond when none was set. */
export const DEFAULT_SLIPPAGE = Slippage.format(Slippage.one)

/** A funding rate per second or hour: 1 % is 1e18. Positive is paid by longs. */
export type FundingRateP = Brand<bigint, 'FundingRateP'>

export const FundingRateP = scaleOf<FundingRateP>(18)

/** The integer of a `FundingRateP` read as a share of one: 1 % is 0.01. */
export type FundingFraction = Brand<bigint, 'FundingFraction'>

export const FundingFraction = scaleOf<FundingFraction>(FundingRateP.decimals + 2)

/** A factor, or the quotient of two amounts, 1e10. */
export type Ratio = Brand<bigint, 'Ratio'>

export const Ratio = scaleOf<Ratio>(10)

/** A price of one token of a collateral in USD, 1e8. */
export type CollateralPrice = Brand<bigint, 'CollateralPrice'>

export const CollateralPrice = scaleOf<CollateralPrice>(8)

/** The multiplier of a trader's fee tier, 1e18: what the Diamond makes of a fee of one whole. */
export type FeeMultiplier = Brand<bigint, 'FeeMultiplier'>
export const FeeMultiplier = scaleOf<FeeMultiplier>(18)

/** An amount of a chain's native currency, in wei. */
export type Wei = Brand<bigint, 'Wei'>

export const Wei = scaleOf<Wei>(18)

/** An amount of collateral in whole tokens, 1e10, whatever the decimals of the token. */
export type WholeCollateral = Brand<bigint, 'WholeCollateral'>
export const WholeCollateral = scaleOf<WholeCollateral>(10)

/** An amount of a collateral in units of its token, whose decimals are the token's own. */
export type CollateralAmount = Brand<bigint, 'CollateralAmount'>

export const CollateralAmount = {
  zero: 0n as CollateralAmount,
  of: (units: bigint): CollateralAmount => units as CollateralAmount,
  /** One whole token. */
  one: (decimals: number): CollateralAmount => (10n ** BigInt(decimals)) as CollateralAmount,
  /** Parses exactly; `undefined` when the value has more places than the token. */
  parse: (value: Decimal, decimals: number) => scaleDecimal(value, decimals) as CollateralAmount | undefined,
  /** Parses with further places cut off, toward zero. */
  parseTruncated: (value: Decimal, decimals: number) => scaleDecimalTruncated(value, decimals) as CollateralAmount,
  format: (amount: CollateralAmount, decimals: number): Decimal => formatDecimal(amount, decimals),
} as const

/** A record whose scaled integers have no unit yet, as a decoder gives it. */
export type Unscaled<Record> = Record extends bigint
  ? bigint
  : Record extends object
    ? { readonly [Name in keyof Record]: Unscaled<Record[Name]> }
    : Record

/** States the units of a whole record whose integers are in the scales of `Record` already. */
export function withScales<Record>(record: Unscaled<Record>): Record
export function withScales(record: unknown): unknown {
  return record
}

/** One kind of scaled integer: its decimals, and the ways from and to text. */
export interface Scale<Value extends bigint> {
  readonly decimals: number
  /** The integer of 1: 10^decimals. */
  readonly one: Value
  /** The integer of 0. */
  readonly zero: Value
  /** States the unit of an integer that is scaled already: of the chain, the store or a formula. */
  readonly of: (units: bigint | number) => Value
  /** Parses exactly; `undefined` when the value has more places than the scale. */
  readonly parse: (value: Decimal) => Value | undefined
  /** Parses with further places cut off, toward zero. */
  readonly parseTruncated: (value: Decimal) => Value
  readonly format: (value: Value) => Decimal
}

function scaleOf<Value extends bigint>(decimals: number): Scale<Value> {
  return {
    decimals,
    one: (10n ** BigInt(decimals)) as Value,
    zero: 0n as Value,
    of: (units) => (typeof units === 'bigint' ? units : BigInt(units)) as Value,
    parse: (value) => scaleDecimal(value, decimals) as Value | undefined,
    parseTruncated: (value) => scaleDecimalTruncated(value, decimals) as Value,
    format: (value) => formatDecimal(value, decimals),
  }
}
