import { larger } from '../../trading/valuation/scales.ts'
import type { Coin } from '../coins.ts'
import type { InfoRequest } from './infoRequest.ts'
import { MalformedInfoError } from './malformedInfo.ts'

const PRICE_DECIMALS = 10

/** Digits of a price that may be asked for, and what the last of them may be counted in when there are five. */
const SIGNIFICANT_DIGITS: readonly unknown[] = [2, 3, 4, 5]
const MANTISSAS: readonly unknown[] = [1, 2, 5]
const MANTISSA_DIGITS = 5

/** How far apart the prices of a book are, 1e10, for a coin at a price. */
export type PriceStep = (coin: Coin, price: bigint) => bigint

/** From `nSigFigs` and `mantissa`; the smallest step of the market when neither is given. */
export function priceStep({ nSigFigs, mantissa }: InfoRequest): PriceStep {
  const digits = nSigFigs ?? undefined
  const count = mantissa ?? undefined
  if (digits === undefined && count === undefined) return smallestStep
  const isMantissaFit = count === undefined || (digits === MANTISSA_DIGITS && MANTISSAS.includes(count))
  if (!SIGNIFICANT_DIGITS.includes(digits) || !isMantissaFit) throw new MalformedInfoError()
  return (coin, price) => {
    const places = Math.max(0, price.toString().length - (digits as number))
    return larger(10n ** BigInt(places) * BigInt((count as number | undefined) ?? 1), smallestStep(coin))
  }
}

function smallestStep({ pxDecimals }: Coin): bigint {
  return 10n ** BigInt(Math.max(0, PRICE_DECIMALS - pxDecimals))
}
