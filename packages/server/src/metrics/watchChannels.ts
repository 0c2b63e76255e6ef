import { Counter, Gauge } from 'prom-client'
import type { ChannelCounts } from '../stream/streamCounts.ts'
import type { Metrics } from './createMetrics.ts'

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

/** Adds what is counted of each channel of one kind of sockets; `prefix` is what the names of the series start with. */
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
