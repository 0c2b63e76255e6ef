import { parseDecimal, scaleDecimal } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'

// Scales of the Diamond's integers.
export const PRICE_DECIMALS = 10
export const LEVERAGE_DECIMALS = 3
/** Of percent: 1 % is 1000. */
export const SLIPPAGE_DECIMALS = 3
export const SIZE_DECIMALS = 18
/** Of a token's price in USD. */
export const USD_PRICE_DECIMALS = 8
export const USD_DECIMALS = 18

/** Percent; what an order and a close have when they name none, and what the Diamond closes with when none was set. */
export const DEFAULT_SLIPPAGE = '1'

/** Exactly, as the chain counts. What has more decimals can't be what a transaction does. */
export function scaled(field: string, text: string, decimals: number): bigint {
  const value = parseDecimal(text)
  const units = value === undefined ? undefined : scaleDecimal(value, decimals)
  if (units === undefined) throw new UnverifiedTransactionError(field, `at most ${decimals} decimals`, text)
  return units
}

/** 1e3 per percent. */
export function slippageUnits(slippage: string | undefined): bigint {
  return scaled('slippage', slippage ?? DEFAULT_SLIPPAGE, SLIPPAGE_DECIMALS)
}

/** 1e10; none is 0. */
export function triggerUnits(field: string, price: string | null | undefined): bigint {
  return price === null || price === undefined ? 0n : scaled(field, price, PRICE_DECIMALS)
}
