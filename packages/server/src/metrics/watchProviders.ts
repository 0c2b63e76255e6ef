import type { ChainSlug } from '@bezel/protocol'
import { Counter, Gauge } from 'prom-client'
import type { ProviderStatus } from '../chain/providers/providers.ts'
import type { Metrics } from './createMetrics.ts'

/** The numbers of one provider that only grow. */
const COUNTERS: readonly {
  readonly name: string
  readonly help: string
  readonly value: (status: ProviderStatus) => number
}[] = [
  { name: 'bezel_provider_calls_total', help: 'Calls sent, as a provider bills them.', value: ({ calls }) => calls },
  {
    name: 'bezel_provider_refusals_total',
    help: 'Batches, calls and requests that the provider refused because of its limits.',
    value: ({ refusals }) => refusals,
  },
  {
    name: 'bezel_provider_hedges_total',
    help: 'Requests that were also sent to the next provider, because this one took long.',
    value: ({ hedges }) => hedges,
  },
]

/** Adds the metrics of the providers of every chain, read at each scrape. Call it once. */
export function watchProviders(
  { registry }: Metrics,
  clients: ReadonlyMap<ChainSlug, { statuses(): readonly ProviderStatus[] }>,
): void {
  const labelNames = ['chain', 'provider'] as const
  const all = () => [...clients].flatMap(([chain, client]) => client.statuses().map((status) => ({ chain, status })))
  const up: Gauge<'chain' | 'provider' | 'state'> = new Gauge({
    name: 'bezel_provider_up',
    help: '1 while the provider is well; its state is a label.',
    labelNames: [...labelNames, 'state'],
    registers: [registry],
    collect() {
      up.reset()
      for (const { chain, status } of all()) {
        up.set({ chain, provider: status.name, state: status.state }, Number(status.state === 'ok'))
      }
    },
  })
  for (const { name, help, value } of COUNTERS) {
    const counter: Counter<'chain' | 'provider'> = new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        counter.reset()
        for (const { chain, status } of all()) counter.inc({ chain, provider: status.name }, value(status))
      },
    })
  }
}
