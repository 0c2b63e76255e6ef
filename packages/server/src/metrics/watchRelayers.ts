import type { ChainSlug } from '@bezel/protocol'
import { Counter, Gauge } from 'prom-client'
import type { RelayerHealth } from '../facade/relayer/relayer.ts'
import type { Metrics } from './createMetrics.ts'

/** The relayer of every chain that has one, asked at each scrape. */
export type RelayerSources = ReadonlyMap<ChainSlug, { health(): RelayerHealth }>

const GAUGES: readonly Series[] = [
  {
    name: 'bezel_relayer_balance_wei',
    help: 'Native balance of the relayer.',
    value: ({ balanceWei }) => (balanceWei === null ? undefined : Number(balanceWei)),
  },
  { name: 'bezel_relayer_low', help: '1 while the relayer has to be topped up.', value: ({ isLow }) => Number(isLow) },
  { name: 'bezel_relayer_waiting', help: 'Relayed transactions that are not mined.', value: ({ waiting }) => waiting },
  { name: 'bezel_relayer_unsettled', help: 'Relayed transactions that are not final.', value: (of) => of.unsettled },
  {
    name: 'bezel_relayer_oldest_waiting_seconds',
    help: 'Age of the oldest relayed transaction that is not mined.',
    value: ({ oldestWaitingMs }) => oldestWaitingMs / 1000,
  },
]

const COUNTERS: readonly Series[] = [
  { name: 'bezel_relayer_mined_total', help: 'Actions that are mined for good.', value: ({ counts }) => counts.mined },
  { name: 'bezel_relayer_burnt_total', help: 'Nonces that were burnt.', value: ({ counts }) => counts.burnt },
  {
    name: 'bezel_relayer_repriced_total',
    help: 'Transactions sent again with higher fees.',
    value: ({ counts }) => counts.repriced,
  },
  {
    name: 'bezel_relayer_lost_total',
    help: 'Nonces that were used with the same key elsewhere.',
    value: ({ counts }) => counts.lost,
  },
]

interface Series {
  readonly name: string
  readonly help: string
  /** `undefined`: nothing is known now, and nothing is told. */
  readonly value: (of: RelayerHealth) => number | undefined
}

/** Adds how the relayers are. To be called once. */
export function watchRelayers({ registry }: Metrics, byChain: RelayerSources): void {
  const of = { labelNames: ['chain'], registers: [registry] }
  for (const { name, help, value } of GAUGES) {
    const gauge: Gauge = new Gauge({ ...of, name, help, collect: () => fill(gauge, value) })
  }
  for (const { name, help, value } of COUNTERS) {
    const counter: Counter = new Counter({ ...of, name, help, collect: () => fill(counter, value) })
  }

  function fill(series: Gauge | Counter, value: Series['value']): void {
    series.reset()
    for (const [chain, relayer] of byChain) {
      const now = value(relayer.health())
      if (now !== undefined) series.inc({ chain }, now)
    }
  }
}
