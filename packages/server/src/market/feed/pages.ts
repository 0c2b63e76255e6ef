import type { Ohlc } from '../candles/ohlc.ts'
import { isPairIndex, parseJson, parsePrice, type PairPrice } from './parseFrame.ts'

/** The feed's pages over HTTP, beside its stream. */
export interface FeedPages {
  /** `GET /charts`: the current prices of all pairs. */
  snapshot(): Promise<Snapshot>
  /** `GET /charts/{pair}/{from}/{to}/{minutes}`: the close (1e10) of the oldest candle in the range; `undefined` when there is none. */
  firstClose(pairIndex: number, range: CandleRange): Promise<bigint | undefined>
  /** The same page: all candles of the range by the time they begin (ms); `undefined` where the feed has no history of the pair or width. */
  history(pairIndex: number, range: CandleRange): Promise<ReadonlyMap<number, Ohlc> | undefined>
  /** `GET /market-status`: which pairs trade now; `undefined` where the feed has no such page. */
  marketStatus(): Promise<ReadonlyMap<number, boolean> | undefined>
}

export interface Snapshot {
  readonly marks: readonly PairPrice[]
  readonly indices: readonly PairPrice[]
}

export interface CandleRange {
  readonly fromS: number
  readonly toS: number
  readonly minutes: number
}

/** The feed did not answer, or not with anything that can be read. Asking again may help. */
export class FeedUnavailableError extends Error {
  override readonly name = 'FeedUnavailableError'
}

const MINUTE_MS = 60_000
const PAGE_TIMEOUT_MS = 5_000
/** A page that is longer is no page of a price feed: a week of candles has 20 KB, the whole snapshot 60 KB. */
const MAX_PAGE_CHARS = 4_000_000

/** `feedUrl` is http or https, without a slash at its end. */
export function createFeedPages(feedUrl: string): FeedPages {
  return {
    async snapshot() {
      const page = record(await readPage(feedUrl, '/charts'))
      return { marks: parseColumn(page.closes), indices: parseColumn(page.indexPrices) }
    },
    async firstClose(pairIndex, { fromS, toS, minutes }) {
      const { table } = record(await readPage(feedUrl, `/charts/${pairIndex}/${fromS}/${toS}/${minutes}`))
      const rows = Array.isArray(table) ? table.map(record) : []
      const closes = rows.map(({ time, close }) => ({ time: Number(time), close: parsePrice(close) }))
      const readable = closes.filter(({ time, close }) => Number.isFinite(time) && close !== undefined)
      return readable.toSorted((a, b) => a.time - b.time)[0]?.close
    },
    async history(pairIndex, { fromS, toS, minutes }) {
      const page = await readPage(feedUrl, `/charts/${pairIndex}/${fromS}/${toS}/${minutes}`)
      if (page === undefined) return undefined
      const { table } = record(page)
      const candles = (Array.isArray(table) ? table : []).map((row) => parseCandle(record(row), minutes))
      return new Map(candles.filter((candle) => candle !== undefined))
    },
    async marketStatus() {
      const page = await readPage(feedUrl, '/market-status')
      if (page === undefined) return undefined
      const named = Object.entries(record(page)).filter(([pair]) => /^\d{1,5}$/.test(pair))
      const flags = named.map(([pair, open]) => [Number(pair), open] as const)
      return new Map(flags.filter((flag): flag is [number, boolean] => isPairIndex(flag[0]) && isFlag(flag[1])))
    },
  }
}

/** The JSON of a page; `undefined` when the feed answers that it has none (4xx). Throws `FeedUnavailableError`. */
async function readPage(feedUrl: string, path: string): Promise<unknown> {
  let answer: Response
  let text: string
  try {
    answer = await fetch(feedUrl + path, { signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) })
    text = await answer.text()
  } catch (error) {
    throw new FeedUnavailableError(`the feed did not answer ${path}`, { cause: error })
  }
  // Too many requests is the one refusal that passes by itself.
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) return undefined
  const page = answer.ok && text.length <= MAX_PAGE_CHARS ? parseJson(text) : undefined
  if (page === undefined) throw new FeedUnavailableError(`the feed answered ${path} with ${answer.status} and no JSON`)
  return page
}

/** `undefined` when it is no candle of that width. */
function parseCandle(row: Readonly<Record<string, unknown>>, minutes: number): [number, Ohlc] | undefined {
  const time = Number(row.time)
  const [open, high, low, close] = [row.open, row.high, row.low, row.close].map(parsePrice)
  if (open === undefined || high === undefined || low === undefined || close === undefined) return undefined
  if (!Number.isSafeInteger(time) || time < 0 || time % (minutes * MINUTE_MS) !== 0) return undefined
  const isOrdered = low <= open && low <= close && high >= open && high >= close
  return isOrdered ? [time, { open, high, low, close }] : undefined
}

/** Prices by place; a place without one is a pair that the feed does not have. */
function parseColumn(column: unknown): readonly PairPrice[] {
  if (!Array.isArray(column)) return []
  const prices = column.map((value, pairIndex) => [pairIndex, parsePrice(value)] as const)
  return prices.filter((entry): entry is PairPrice => entry[1] !== undefined && isPairIndex(entry[0]))
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
