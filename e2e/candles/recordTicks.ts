import { once } from 'node:events'
import { WebSocket } from 'ws'
import { parseFrame } from '../../packages/server/src/market/feed/parseFrame.ts'
import type { PublishedTick } from '../../packages/server/src/market/candles/testing/referenceCandles.ts'

/** All ticks of the feed, recorded by a listener that is never disconnected. */
export interface TickRecorder {
  readonly ticks: readonly PublishedTick[]
  /** Returns the feed's time of the first frame received, epoch ms. */
  sinceMs(): number
  /** Returns the feed's time of the last frame received, epoch ms. */
  clockMs(): number
  close(): void
}

export async function recordTicks(feedUrl: string): Promise<TickRecorder> {
  const socket = new WebSocket(`${feedUrl.replace(/^http/, 'ws')}/v4`)
  const ticks: PublishedTick[] = []
  let sinceMs: number | undefined
  let clockMs = 0
  socket.on('message', (data) => {
    const frame = parseFrame(String(data))
    if (frame?.kind !== 'prices' || frame.timeMs === undefined) return
    const { timeMs, marks } = frame
    sinceMs ??= timeMs
    clockMs = timeMs
    for (const [pairIndex, price] of marks) ticks.push({ pairIndex, price, timeMs })
  })
  await once(socket, 'open')
  await once(socket, 'message')
  return { ticks, sinceMs: () => sinceMs!, clockMs: () => clockMs, close: () => socket.terminate() }
}
