import { DAY_LEVEL } from './levels.ts'
import { below, mix } from './mix.ts'
import type { Span } from './span.ts'

/** The start price itself, in parts per billion. */
export const UNIT_PPB = 1_000_000_000

/**
 * Waves of this many days, each as high as its share of the daily move times the root of its length: together they stay within four
 * daily moves of the start price, so a market never wanders off however long the walk is.
 */
const WAVES = [
  { days: 2, heightPercent: 57 },
  { days: 8, heightPercent: 113 },
  { days: 32, heightPercent: 226 },
]

const SALT = { rise: 11, fall: 12, wave: 13 }

/** The span of a UTC day, counted from the epoch: the root from which all finer spans are cut. */
export function daySpan(seed: number, dailyMovePpb: number, day: number): Span {
  const left = midnight(seed, dailyMovePpb, day)
  const right = midnight(seed, dailyMovePpb, day + 1)
  const reach = Math.floor((dailyMovePpb * 3) / 5)
  return {
    left,
    right,
    high: Math.max(left, right) + below(mix(seed, DAY_LEVEL, day, SALT.rise), reach),
    low: Math.min(left, right) - below(mix(seed, DAY_LEVEL, day, SALT.fall), reach),
  }
}

/** Where the walk stands at the beginning of a day: the start price plus the waves, each a line between random heights. */
function midnight(seed: number, dailyMovePpb: number, day: number): number {
  let value = UNIT_PPB
  for (const { days, heightPercent } of WAVES) {
    const reach = Math.floor((dailyMovePpb * heightPercent) / 100)
    const from = Math.floor(day / days)
    const height = (at: number) => 2 * below(mix(seed, SALT.wave, days, at), reach) - reach
    const into = day - from * days
    value += Math.floor((height(from) * (days - into) + height(from + 1) * into) / days)
  }
  return value
}
