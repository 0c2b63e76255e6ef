import { nearestName } from '@bezel/protocol'
import type { MarketRecord } from '@bezel/sdk'
import { UsageError } from '../errors/usageError.ts'

/** The markets that are wanted, in that order; all of them when none is named. Throws with the nearest name for one that is not there. */
export function requireMarkets(list: readonly MarketRecord[], wanted: readonly string[]): readonly MarketRecord[] {
  if (wanted.length === 0) return list
  return wanted.map((symbol) => {
    const found = list.find((market) => market.symbol === symbol)
    if (found !== undefined) return found
    // By the first half: the second is the same in nearly all of them, and would make strangers look alike.
    const base = nearestName(
      symbol.split('/')[0]!,
      list.map((market) => market.base),
    )
    const nearest = list.find((market) => market.base === base)?.symbol
    throw new UsageError(
      `There is no market ${symbol} on this chain. ${nearest === undefined ? 'bezel markets lists them.' : `Did you mean ${nearest}?`}`,
    )
  })
}
