import { isCandleInterval, Price, withScales } from '@bezel/protocol'
import type { PairQuote } from '../../trading/market/chainMarkets.ts'
import type { Ohlc } from '../feed/pages.ts'
import { joinOhlc } from './candleText.ts'
import { createSeries, runningOhlc, type Series } from './series.ts'

/** All series as they were at one instant of the feed's clock. */
export interface RunningState {
  readonly clockMs: number
  readonly series: Iterable<Series>
}

const ROWS = '\n'

const CELLS = ' '

/** Marks a value that is not known. */
const NONE = '-'

/**
 * Serialises the state: the clock, then a line for each series with pair, interval, begin, last close, unseen from and
 * to, open, high, low and close (1e10) where there are some, and the time of the last tick. Plain text, because it is
 * fast to make: all series are written every few seconds, which blocks the process.
 */
export function stateText({ clockMs, series }: RunningState): string {
  const rows = [String(clockMs)]
  for (const { pairIndex, interval, timeMs, before, since, lastClose, unseen, heardAtMs } of series) {
    const ohlc = before === undefined || since === undefined ? (before ?? since) : joinOhlc(before, since)
    const prices = ohlc === undefined ? NONE : `${ohlc.open} ${ohlc.high} ${ohlc.low} ${ohlc.close}`
    const unseenCells = unseen === undefined ? `${NONE} ${NONE}` : `${unseen.fromMs} ${unseen.toMs}`
    const cells = [pairIndex, interval, timeMs, lastClose ?? NONE, unseenCells, prices, heardAtMs ?? NONE]
    rows.push(cells.join(CELLS))
  }
  return rows.join(ROWS)
}

export function parseState(text: string): RunningState & { readonly series: readonly Series[] } {
  const [clock, ...rows] = text.split(ROWS)
  return { clockMs: Number(clock), series: rows.map(seriesOf) }
}

function seriesOf(row: string): Series {
  const [pairIndex, interval, timeMs, lastClose, unseenFrom, unseenTo, ...last] = row.split(CELLS)
  if (!isCandleInterval(interval) || lastClose === undefined) {
    throw new Error(`the store holds ${JSON.stringify(row)} as a running candle`)
  }
  const prices = last[0] === NONE ? [] : last.slice(0, 4)
  const [heardAtMs = NONE] = last.slice(Math.max(1, prices.length))
  return {
    ...createSeries(Number(pairIndex), interval, Number(timeMs)),
    before: ohlcOf(prices),
    heardAtMs: heardAtMs === NONE ? undefined : Number(heardAtMs),
    lastClose: lastClose === NONE ? undefined : Price.of(BigInt(lastClose)),
    unseen: unseenFrom === NONE ? undefined : { fromMs: Number(unseenFrom), toMs: Number(unseenTo), again: undefined },
  }
}

function ohlcOf([open, high, low, close]: readonly string[]): Ohlc | undefined {
  if (open === undefined || high === undefined || low === undefined || close === undefined) return undefined
  return withScales<Ohlc>({ open: BigInt(open), high: BigInt(high), low: BigInt(low), close: BigInt(close) })
}

/** Returns the last price of every pair of a stored state, with the time of its last tick. */
export function lastQuotesOf(series: readonly Series[]): PairQuote[] {
  return [...Map.groupBy(series, ({ pairIndex }) => pairIndex).values()].flatMap(lastQuoteOf)
}

function lastQuoteOf(ofPair: readonly Series[]): PairQuote[] {
  const narrowestFirst = ofPair.toSorted((a, b) => a.widthMs - b.widthMs)
  const mark = narrowestFirst.map(runningOhlc).find((ohlc) => ohlc !== undefined)?.close
  if (mark === undefined) return []
  const heard = ofPair.flatMap(({ heardAtMs }) => heardAtMs ?? [])
  // A state that an older version kept has no times of ticks. The begin of the widest candle is mostly before them.
  const updatedAtMs = heard.length > 0 ? Math.max(...heard) : narrowestFirst.at(-1)!.timeMs
  return [{ pairIndex: ofPair[0]!.pairIndex, mark, index: mark, updatedAtMs }]
}
