import { type Price } from '@bezel/protocol'
import { boundedText } from '../../ground/boundedText.ts'
import { isPairIndex, parseJson, parsePrice, type PairPrice } from './parseFrame.ts'

/** The feed's HTTP pages, beside its stream. */
export interface FeedPages {
  /** Reads `GET /charts`: the current prices of all pairs, at least one. */
  snapshot(): Promise<Snapshot>
  /**
   * Reads `GET /charts/{pair}/{from}/{to}/{minutes}`: all candles of the range by the time they begin (ms); `undefined`
   * where the feed has no history of the pair or width. The live feed limits and does not document this page, so
   * nothing that the service needs to start may read it.
   */
  history(pairIndex: number, range: FeedCandleRange): Promise<ReadonlyMap<number, Ohlc> | undefined>
  /** Reads `GET /market-status`: true for each pair that trades now; `undefined` where the feed has no such page. */
  marketStatus(): Promise<ReadonlyMap<number, boolean> | undefined>
}

export interface Snapshot {
  readonly marks: readonly PairPrice[]
  readonly indices: readonly PairPrice[]
}

export interface FeedCandleRange {
  readonly fromS: number
  readonly toS: number
  readonly minutes: number
}

/** First, highest, lowest and last price of a stretch of time, 1e10. */
export interface Ohlc {
  readonly open: Price
  readonly high: Price
  readonly low: Price
  readonly close: Price
}

/** Thrown when the feed did not answer, or with something that can't be read. A retry may help. */
export class FeedUnavailableError extends Error {
  override readonly name = 'FeedUnavailableError'
}

const MINUTE_MS = 60_000
const PAGE_TIMEOUT_MS = 5_000
/**
 * The most bytes of a page. A week of candles has 20 KB, the whole snapshot 60 KB, so a longer answer is no page of the
 * feed, and is cut off.
 */
const MAX_PAGE_BYTES = 4_000_000

/** Creates a reader of the feed's pages. `feedUrl` is http or https, without a slash at its end. */
export function createFeedPages(feedUrl: string): FeedPages {
  return {
    async snapshot() {
      const page = record(await readJsonPage(feedUrl, '/charts'))
      const marks = parseColumn(page.closes)
      // An answer without any price would leave out every market of every chain.
      if (marks.length === 0) throw new FeedUnavailableError('the feed answered /charts without a price')
      return { marks, indices: parseColumn(page.indexPrices) }
    },
    async history(pairIndex, { fromS, toS, minutes }) {
      const page = await readJsonPage(feedUrl, `/charts/${pairIndex}/${fromS}/${toS}/${minutes}`)
      if (page === undefined) return undefined
      const { table } = record(page)
      const candles = (Array.isArray(table) ? table : []).map((row) => parseCandle(record(row), minutes))
      return new Map(candles.filter((candle) => candle !== undefined))
    },
    async marketStatus() {
      const page = await readJsonPage(feedUrl, '/market-status')
      if (page === undefined) return undefined
      const named = Object.entries(record(page)).filter(([pair]) => /^\d{1,5}$/.test(pair))
      const flags = named.map(([pair, open]) => [Number(pair), open] as const)
      return new Map(flags.filter((flag): flag is [number, boolean] => isPairIndex(flag[0]) && isFlag(flag[1])))
    },
  }
}

/**
 * Reads the JSON of a page of the feed or of a backend; `undefined` when it answers that it has none (4xx). Throws
 * `FeedUnavailableError`.
 */
export async function readJsonPage(baseUrl: string, path: string): Promise<unknown> {
  let answer: Response
  let text: string
  try {
    answer = await fetch(baseUrl + path, { signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) })
    text = await boundedText(answer, MAX_PAGE_BYTES)
  } catch (error) {
    throw new FeedUnavailableError(`the feed did not answer ${path}`, { cause: error })
  }
  // Status 429 (too many requests) is the one 4xx that goes away by itself.
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) return undefined
  const page = answer.ok ? parseJson(text) : undefined
  if (page === undefined) throw new FeedUnavailableError(`the feed answered ${path} with ${answer.status} and no JSON`)
  return page
}

/** Returns the candle of a row with its begin in milliseconds; `undefined` when it is no valid candle of that width. */
function parseCandle(row: Readonly<Record<string, unknown>>, minutes: number): [number, Ohlc] | undefined {
  const time = Number(row.time)
  const [open, high, low, close] = [row.open, row.high, row.low, row.close].map(parsePrice)
  if (open === undefined || high === undefined || low === undefined || close === undefined) return undefined
  if (!Number.isSafeInteger(time) || time < 0 || time % (minutes * MINUTE_MS) !== 0) return undefined
  const isOrdered = low <= open && low <= close && high >= open && high >= close
  return isOrdered ? [time, { open, high, low, close }] : undefined
}

/**
 * Returns the prices of a column, whose index is the pair index. An entry without a price is a pair that the feed does
 * not have.
 */
function parseColumn(column: unknown): readonly PairPrice[] {
  if (!Array.isArray(column)) return []
  const prices = column.map((value, pairIndex) => [pairIndex, parsePrice(value)] as const)
  return prices.filter((entry): entry is PairPrice => entry[1] !== undefined && isPairIndex(entry[0]))
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
