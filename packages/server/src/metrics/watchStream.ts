import { Counter, Gauge } from 'prom-client'
import type { StreamCounts } from '../stream/streamCounts.ts'
import type { Metrics } from './createMetrics.ts'
import { watchChannels } from './watchChannels.ts'

/** Adds what the WebSockets count. To be called once. */
export function watchStream(metrics: Metrics, counts: StreamCounts): void {
  const registers = [metrics.registry]
  const sockets: Gauge = new Gauge({
    name: 'bezel_stream_sockets',
    help: 'Open WebSockets, those of the facade among them.',
    registers,
    collect: () => sockets.set(counts.sockets),
  })
  const closed: Counter = new Counter({
    name: 'bezel_stream_closed_total',
    help: 'Closed WebSockets, by close code.',
    labelNames: ['code'],
    registers,
    collect() {
      closed.reset()
      for (const [code, count] of counts.closed) closed.inc({ code }, count)
    },
  })
  watchChannels(metrics, 'bezel_stream', counts.channels)
}
