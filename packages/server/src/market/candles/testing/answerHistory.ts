import { FeedUnavailableError, type CandleRange } from '../../feed/pages.ts'
import type { CandlesByTime } from '../mergeHistory.ts'
import { referenceCandles, type PublishedTick } from './referenceCandles.ts'

/** How the upstream answers for its history. `sparse` leaves out candles without ticks. */
export type UpstreamMood = 'full' | 'sparse' | 'none' | 'down'

/** What the upstream has published, and how it is. */
export interface UpstreamState {
  mood: UpstreamMood
  /** Answers wait to be let go. */
  isSlow: boolean
  readonly published: PublishedTick[]
  /** The latest time that was published, by a tick or a heartbeat. */
  clockMs: number
  /** What was asked of it. */
  readonly asked: CandleRange[]
}

/** A page of history as of the moment it is asked for, however late it comes. */
export async function answerHistory(
  upstream: UpstreamState,
  pairIndex: number,
  range: CandleRange,
  waiting: (() => void)[],
): Promise<CandlesByTime | undefined> {
  upstream.asked.push(range)
  const { mood } = upstream
  const page = mood === 'full' || mood === 'sparse' ? pageOf(upstream, pairIndex, range) : undefined
  if (upstream.isSlow) await new Promise<void>((go) => waiting.push(go))
  if (mood === 'down') throw new FeedUnavailableError('down')
  return page
}

function pageOf(
  { published, clockMs, mood }: UpstreamState,
  pairIndex: number,
  { fromS, toS, minutes }: CandleRange,
): CandlesByTime {
  const ticks = published.filter((tick) => tick.pairIndex === pairIndex)
  const all = [...referenceCandles(ticks, minutes * 60_000, clockMs)]
  const page = all.filter(([timeMs]) => timeMs >= fromS * 1_000 && timeMs <= toS * 1_000)
  return new Map(page.filter(([, { isTicked }]) => isTicked || mood === 'full'))
}
