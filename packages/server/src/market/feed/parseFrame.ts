import { parseFeedNumber, scaleDecimalTruncated } from '@bezel/protocol'

/** A price of one pair, 1e10 like every price of the chain. */
export type PairPrice = readonly [pairIndex: number, price: bigint]

/** What one message of the feed says. `skipped` counts entries in it that made no sense. */
export type FeedFrame =
  | {
      readonly kind: 'prices'
      readonly marks: readonly PairPrice[]
      /** `undefined` in version 3, which has marks alone. */
      readonly indices: readonly PairPrice[] | undefined
      /** The feed's own time of it; `undefined` in version 3. */
      readonly timeMs: number | undefined
      readonly skipped: number
    }
  | {
      readonly kind: 'heartbeat'
      /** `undefined` when it is no time. */
      readonly timeMs: number | undefined
    }

const PRICE_DECIMALS = 10
/** Prices are uint64 on chain. */
const MAX_PRICE = 2n ** 64n - 1n
/** Pair indices are uint16 on chain, which also bounds what a hostile feed can make us remember. */
const MAX_PAIR_INDEX = 65_535

/**
 * A text message of the feed: `{m: [pair, price, ...], i: [...], t}` (version 4), `[pair, price, ...]` (version 3) or `[ms]`, the heartbeat
 * of both. `undefined` when it is none of them. An entry that makes no sense is left out and not the whole message, so that one bad
 * pair can't blind all the others.
 */
export function parseFrame(text: string): FeedFrame | undefined {
  const value = parseJson(text)
  if (Array.isArray(value)) return parseArray(value)
  if (typeof value !== 'object' || value === null) return undefined
  const { m, i, t } = value as Readonly<Record<string, unknown>>
  if (!Array.isArray(m) || !Array.isArray(i)) return undefined
  const marks = parsePairs(m)
  const indices = parsePairs(i)
  return {
    kind: 'prices',
    marks: marks.prices,
    indices: indices.prices,
    timeMs: parseTime(t),
    skipped: marks.skipped + indices.skipped,
  }
}

function parseArray(value: readonly unknown[]): FeedFrame | undefined {
  if (value.length === 1) {
    return typeof value[0] === 'number' ? { kind: 'heartbeat', timeMs: parseTime(value[0]) } : undefined
  }
  if (value.length === 0 || value.length % 2 === 1) return undefined
  const { prices, skipped } = parsePairs(value)
  return { kind: 'prices', marks: prices, indices: undefined, timeMs: undefined, skipped }
}

function parseTime(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

function parsePairs(flat: readonly unknown[]): { readonly prices: readonly PairPrice[]; readonly skipped: number } {
  const prices: PairPrice[] = []
  for (let at = 0; at < flat.length; at += 2) {
    const price = parsePrice(flat[at + 1])
    if (isPairIndex(flat[at]) && price !== undefined) prices.push([flat[at] as number, price])
  }
  return { prices, skipped: Math.ceil(flat.length / 2) - prices.length }
}

export function isPairIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_PAIR_INDEX
}

/** 1e10; further digits are cut off, as the chain has none. `undefined` when it is no price that the chain could have. */
export function parsePrice(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const decimal = parseFeedNumber(value)
  if (decimal === undefined) return undefined
  const price = scaleDecimalTruncated(decimal, PRICE_DECIMALS)
  return price > 0n && price <= MAX_PRICE ? price : undefined
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
