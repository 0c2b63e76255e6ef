import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import { candleText, parseCandleText } from './candleText.ts'
import { flatOhlc, joinOhlc, type Ohlc } from './ohlc.ts'
import { createSeries, type Series } from './series.ts'

/** All series as they stood at one instant of the feed's clock. */
export interface RunningState {
  readonly clockMs: number
  readonly series: Iterable<Series>
}

/** One series in the store: short, because all of them are written every few seconds. */
type Row = readonly [
  pairIndex: number,
  interval: CandleInterval,
  timeMs: number,
  ohlc: string | null,
  lastClose: string | null,
  unseenFromMs: number | null,
  unseenToMs: number | null,
]

export function stateText({ clockMs, series }: RunningState): string {
  const rows: Row[] = []
  for (const { pairIndex, interval, timeMs, before, since, lastClose, unseen } of series) {
    rows.push([
      pairIndex,
      interval,
      timeMs,
      textOf(joinOhlc(before, since)),
      lastClose === undefined ? null : textOf(flatOhlc(lastClose)),
      unseen?.fromMs ?? null,
      unseen?.toMs ?? null,
    ])
  }
  return JSON.stringify({ clockMs, rows })
}

export function parseState(text: string): RunningState {
  const { clockMs, rows } = JSON.parse(text) as { readonly clockMs: number; readonly rows: readonly Row[] }
  return { clockMs, series: rows.filter(([, interval]) => Object.hasOwn(CANDLE_INTERVALS, interval)).map(seriesOf) }
}

function seriesOf([pairIndex, interval, timeMs, ohlc, lastClose, unseenFromMs, unseenToMs]: Row): Series {
  return {
    ...createSeries(pairIndex, interval, timeMs),
    before: ohlc === null ? undefined : parseCandleText(ohlc),
    lastClose: lastClose === null ? undefined : parseCandleText(lastClose).close,
    unseen:
      unseenFromMs === null || unseenToMs === null
        ? undefined
        : { fromMs: unseenFromMs, toMs: unseenToMs, again: undefined },
  }
}

function textOf(ohlc: Ohlc | undefined): string | null {
  return ohlc === undefined ? null : candleText(ohlc)
}
