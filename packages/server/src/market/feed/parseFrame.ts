import { Price, parseFeedNumber } from '@bezel/protocol'

/** A price of one pair. */
export type PairPrice = readonly [pairIndex: number, price: Price]

/** A parsed message of the feed. `skipped` counts its invalid entries. */
export type FeedFrame =
  | {
      readonly kind: 'prices'
      readonly marks: readonly PairPrice[]
      /** Index prices; `undefined` in version 3, which has marks only. */
      readonly indices: readonly PairPrice[] | undefined
      /** The feed's own time of the frame; `undefined` in version 3. */
      readonly timeMs: number | undefined
      readonly skipped: number
    }
  | {
      readonly kind: 'heartbeat'
      /** The feed's time; `undefined` when the value is no valid time. */
      readonly timeMs: number | undefined
    }
/** The greatest price: prices are uint64 on chain. */
const MAX_PRICE = 2n ** 64n - 1n
/** The greatest pair index: uint16 on chain, which also bounds how much memory a hostile feed can use up. */
const MAX_PAIR_INDEX = 65_535

/**
 * Parses a text message of the feed: `{m: [pair, price, ...], i: [...], t}` (version 4), `[pair, price, ...]` (version
 * 3) or `[ms]`, the heartbeat of both; `undefined` when it is none of them. Only the invalid entries of a message are
 * left out, so that one bad pair can't hide all the others.
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

/**
 * Parses a price and cuts off the digits that the chain has no room for; `undefined` when it is no price that the chain
 * could have.
 */
export function parsePrice(value: unknown): Price | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const decimal = parseFeedNumber(value)
  if (decimal === undefined) return undefined
  const price = Price.parseTruncated(decimal)
  return price > 0n && price <= MAX_PRICE ? price : undefined
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
