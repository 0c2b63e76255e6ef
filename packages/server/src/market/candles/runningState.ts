import { isCandleInterval, Price, withScales } from '@bezel/protocol'
import type { Ohlc } from '../feed/pages.ts'
import { joinOhlc } from './candleText.ts'
import { createSeries, type Series } from './series.ts'

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
 * to, and open, high, low and close (1e10). Plain text, because it is fast to make: all series are written every few
 * seconds, which blocks the process.
 */
export function stateText({ clockMs, series }: RunningState): string {
  const rows = [String(clockMs)]
  for (const { pairIndex, interval, timeMs, before, since, lastClose, unseen } of series) {
    const ohlc = before === undefined || since === undefined ? (before ?? since) : joinOhlc(before, since)
    const prices = ohlc === undefined ? NONE : `${ohlc.open} ${ohlc.high} ${ohlc.low} ${ohlc.close}`
    const unseenCells = unseen === undefined ? `${NONE} ${NONE}` : `${unseen.fromMs} ${unseen.toMs}`
    rows.push(`${pairIndex} ${interval} ${timeMs} ${lastClose ?? NONE} ${unseenCells} ${prices}`)
  }
  return rows.join(ROWS)
}

export function parseState(text: string): RunningState & { readonly series: readonly Series[] } {
  const [clock, ...rows] = text.split(ROWS)
  return { clockMs: Number(clock), series: rows.map(seriesOf) }
}

function seriesOf(row: string): Series {
  const [pairIndex, interval, timeMs, lastClose, unseenFrom, unseenTo, ...prices] = row.split(CELLS)
  if (!isCandleInterval(interval) || lastClose === undefined) {
    throw new Error(`the store holds ${JSON.stringify(row)} as a running candle`)
  }
  return {
    ...createSeries(Number(pairIndex), interval, Number(timeMs)),
    before: ohlcOf(prices),
    lastClose: lastClose === NONE ? undefined : Price.of(BigInt(lastClose)),
    unseen: unseenFrom === NONE ? undefined : { fromMs: Number(unseenFrom), toMs: Number(unseenTo), again: undefined },
  }
}

function ohlcOf([open, high, low, close]: readonly string[]): Ohlc | undefined {
  if (open === undefined || high === undefined || low === undefined || close === undefined) return undefined
  return withScales<Ohlc>({ open: BigInt(open), high: BigInt(high), low: BigInt(low), close: BigInt(close) })
}
