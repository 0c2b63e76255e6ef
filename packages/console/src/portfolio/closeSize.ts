import { parseDecimal } from '@bezel/protocol/wire'
import { decimal, roundSize, type ClosePositionRequest, type MarketRecord, type Position } from '@bezel/sdk'

/** Shares of a position that are offered as buttons, in percent. */
export const CLOSE_PERCENTS = ['25', '50', '75', '100'] as const

type SizeRules = Pick<MarketRecord, 'sizePrecision' | 'base'>

/** Returns the size that a whole percentage of a position is, rounded down to what the market takes. */
export function sizeOfPercent({ size }: Pick<Position, 'size'>, percent: string, market: SizeRules): string {
  const share = parseDecimal(percent)
  if (share === undefined || decimal.compare(share, '0') <= 0) return '0'
  // All of it always passes, whatever its decimals are.
  if (decimal.compare(share, '100') >= 0) return size
  return roundSize(market, decimal.mul(decimal.mul(size, share), '0.01'))
}

/** Returns the share that a size is of a position, in whole percent and at most 100. */
export function percentOfSize({ size }: Pick<Position, 'size'>, part: string): number {
  const value = parseDecimal(part)
  if (value === undefined || decimal.compare(size, '0') <= 0 || decimal.compare(value, '0') <= 0) return 0
  if (decimal.compare(value, size) >= 0) return 100
  return Math.floor((Number(value) / Number(size)) * 100)
}

/** The size to close as it was typed: a request that can be sent, or the sentence that says why it can't. */
export type CloseSize =
  | { readonly request: ClosePositionRequest; readonly left: string; readonly problem: null }
  | { readonly request: null; readonly left: null; readonly problem: string }

/** Checks a size to close. A close of the whole position names no size, so that what is left over is never dust. */
export function closeOfSize(position: Pick<Position, 'size'>, typed: string, market: SizeRules): CloseSize {
  const refused = (problem: string): CloseSize => ({ request: null, left: null, problem })
  const part = parseDecimal(typed)
  if (part === undefined || decimal.compare(part, '0') <= 0) {
    return refused(`Enter how much ${market.base} to close, above 0.`)
  }
  const { size } = position
  switch (decimal.compare(part, size)) {
    case 1:
      return refused(`The position is ${size} ${market.base}. Enter at most that.`)
    case 0:
      return { request: {}, left: '0', problem: null }
    case -1:
  }
  if (roundSize(market, part) !== part) {
    return refused(`${market.base} is traded with at most ${market.sizePrecision} decimals. Enter fewer digits.`)
  }
  return { request: { size: part }, left: decimal.sub(size, part), problem: null }
}
