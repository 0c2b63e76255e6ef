import { STREAM_CHANNELS } from '@bezel/protocol'
import { Counter, Gauge } from 'prom-client'
import type { ChannelCounts, StreamCounts } from '../stream/streamCounts.ts'
import type { Metrics } from './createMetrics.ts'

/** What is counted of each channel since the start. */
const CHANNEL_COUNTERS: readonly {
  readonly name: string
  readonly help: string
  readonly value: (of: ChannelCounts) => number
}[] = [
  { name: 'bezel_stream_messages_total', help: 'Data messages written, by channel.', value: ({ sent }) => sent },
  {
    name: 'bezel_stream_snapshots_total',
    help: 'Snapshots that readers who had fallen behind got instead of deltas.',
    value: ({ snapshots }) => snapshots,
  },
]

/** Adds what the WebSockets count. To be called once. */
export function watchStream({ registry }: Metrics, counts: StreamCounts): void {
  const registers = [registry]
  const sockets: Gauge = new Gauge({
    name: 'bezel_stream_sockets',
    help: 'Open WebSockets.',
    registers,
    collect: () => sockets.set(counts.sockets),
  })
  const subscriptions: Gauge = new Gauge({
    name: 'bezel_stream_subscriptions',
    help: 'Subscriptions of all sockets, by channel.',
    labelNames: ['channel'],
    registers,
    collect() {
      for (const channel of STREAM_CHANNELS) subscriptions.set({ channel }, counts.channels[channel].subscriptions)
    },
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
  for (const { name, help, value } of CHANNEL_COUNTERS) {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: ['channel'],
      registers,
      collect() {
        counter.reset()
        for (const channel of STREAM_CHANNELS) counter.inc({ channel }, value(counts.channels[channel]))
      },
    })
  }
}
