import { FeedUnavailableError, type FeedCandleRange } from '../../feed/pages.ts'
import type { CandlesByTime } from '../upstream.ts'
import { referenceCandles, type PublishedTick } from './referenceCandles.ts'

/** The way in which the upstream answers requests for its history. `sparse` leaves out candles without ticks. */
export type UpstreamMood = 'full' | 'sparse' | 'none' | 'down'

/** The ticks that the fake upstream has published, and its condition. */
export interface UpstreamState {
  mood: UpstreamMood
  /** Pairs whose history answers with an error, while all others have theirs. */
  readonly brokenPairs: Set<number>
  /** True while answers wait until the test releases them. */
  isSlow: boolean
  readonly published: PublishedTick[]
  /** The latest time that was published, by a tick or a heartbeat. */
  clockMs: number
  /** The ranges that were requested. */
  readonly asked: FeedCandleRange[]
  /** The pairs of these requests. */
  readonly askedPairs: number[]
}

/** Returns an upstream that has published nothing and answers at once. */
export function createUpstreamState(): UpstreamState {
  return { mood: 'full', brokenPairs: new Set(), isSlow: false, published: [], clockMs: 0, asked: [], askedPairs: [] }
}

/** Returns a page of history as of the moment of the request, however late it is delivered. */
export async function answerHistory(
  upstream: UpstreamState,
  pairIndex: number,
  range: FeedCandleRange,
  waiting: (() => void)[],
): Promise<CandlesByTime | undefined> {
  upstream.asked.push(range)
  upstream.askedPairs.push(pairIndex)
  const { mood } = upstream
  const page = mood === 'full' || mood === 'sparse' ? pageOf(upstream, pairIndex, range) : undefined
  if (upstream.isSlow) await new Promise<void>((go) => waiting.push(go))
  if (mood === 'down' || upstream.brokenPairs.has(pairIndex)) throw new FeedUnavailableError('down')
  return page
}

function pageOf(
  { published, clockMs, mood }: UpstreamState,
  pairIndex: number,
  { fromS, toS, minutes }: FeedCandleRange,
): CandlesByTime {
  const ticks = published.filter((tick) => tick.pairIndex === pairIndex)
  const all = [...referenceCandles(ticks, minutes * 60_000, clockMs)]
  const page = all.filter(([timeMs]) => timeMs >= fromS * 1_000 && timeMs <= toS * 1_000)
  return new Map(page.filter(([, { isTicked }]) => isTicked || mood === 'full'))
}
