import { Counter, Gauge } from 'prom-client'
import type { StreamCounts, ChannelCounts } from '../stream/streamCounts.ts'
import type { Metrics } from './createMetrics.ts'

/** Adds the metrics of the WebSockets. Call it once. */
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

const COUNTERS: readonly {
  readonly name: string
  readonly help: string
  readonly value: (of: ChannelCounts) => number
}[] = [
  { name: 'messages_total', help: 'Data messages written, by channel.', value: ({ sent }) => sent },
  {
    name: 'snapshots_total',
    help: 'Snapshots that readers who had fallen behind got instead of deltas.',
    value: ({ snapshots }) => snapshots,
  },
]

/** Adds the metrics per channel of one kind of sockets. The names of the series start with `prefix`. */
export function watchChannels(
  { registry }: Pick<Metrics, 'registry'>,
  prefix: string,
  channels: Readonly<Record<string, ChannelCounts>>,
): void {
  const of = { labelNames: ['channel'], registers: [registry] }
  const subscriptions: Gauge = new Gauge({
    ...of,
    name: `${prefix}_subscriptions`,
    help: 'Subscriptions of all sockets, by channel.',
    collect() {
      for (const [channel, counts] of Object.entries(channels)) subscriptions.set({ channel }, counts.subscriptions)
    },
  })
  for (const { name, help, value } of COUNTERS) {
    const counter: Counter = new Counter({
      ...of,
      name: `${prefix}_${name}`,
      help,
      collect() {
        counter.reset()
        for (const [channel, counts] of Object.entries(channels)) counter.inc({ channel }, value(counts))
      },
    })
  }
}
