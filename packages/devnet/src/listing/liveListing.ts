import { PAIRS, type LocalPair } from './pairs.ts'

/** Number of pair indices of the live Diamond on Arbitrum, and of those that can be traded. */
const LIVE_INDICES = 483
const LIVE_TRADABLE = 340

/**
 * Returns a listing of live size: the usual pairs, and made-up ones between and behind them up to the live numbers.
 * Each made-up pair has the group, fees, depth and start price of a usual one, all of which take turns.
 */
export function livePairs(): readonly LocalPair[] {
  const taken = new Set(PAIRS.map(({ index }) => index))
  const free = Array.from({ length: LIVE_INDICES }, (_, index) => index).filter((index) => !taken.has(index))
  const count = LIVE_TRADABLE - PAIRS.length
  // Counted from the end, so that the last index is listed: the Diamond has as many indices as the last one says.
  const chosen = Array.from({ length: count }, (_, nth) => free.at(-1 - Math.floor((nth * free.length) / count))!)
  const madeUp = chosen.map((index, nth) => {
    const like = PAIRS[nth % PAIRS.length]!
    return { ...like, index, from: `${like.from}${index}`, indexBasisPpm: 0 }
  })
  return [...PAIRS, ...madeUp].toSorted((a, b) => a.index - b.index)
}
