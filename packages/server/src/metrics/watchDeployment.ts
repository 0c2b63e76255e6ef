import { ORDER_STATUSES, type ChainSlug, type OrderStatus } from '@bezel/protocol'
import { Counter, Gauge } from 'prom-client'
import type { Metrics } from './createMetrics.ts'

/** Where the numbers of one chain come from. All are asked at each scrape, so they must be in memory. */
export interface ChainSource {
  readonly chain: ChainSlug
  readonly isReady: () => boolean
  readonly roundTrips: () => number
  readonly head: () => { readonly number: number; readonly timestampMs: number } | undefined
  /** Behind the node's head, as of the last look at it. */
  readonly lagBlocks: () => number
  readonly undoneBlocks: () => number
  readonly openPositions: () => number
}

export interface DeploymentSources {
  readonly chains: readonly ChainSource[]
  readonly ordersByStatus: () => ReadonlyMap<OrderStatus, number>
  readonly noncesRemembered: () => number
}

/** What a series of a chain is made from. */
interface ChainSeries {
  readonly name: string
  readonly help: string
  /** `undefined`: nothing is known now, and nothing is told. */
  readonly value: (source: ChainSource) => number | undefined
}

const CHAIN_GAUGES: readonly ChainSeries[] = [
  { name: 'bezel_chain_ready', help: '1 while the chain can be used.', value: ({ isReady }) => Number(isReady()) },
  { name: 'bezel_chain_head_block', help: 'Last followed block.', value: ({ head }) => head()?.number },
  {
    name: 'bezel_chain_head_timestamp_seconds',
    help: 'Time of the last followed block, as the chain has it.',
    value: ({ head }) => secondsOf(head()?.timestampMs),
  },
  { name: 'bezel_chain_lag_blocks', help: "Blocks behind the node's head.", value: ({ lagBlocks }) => lagBlocks() },
  { name: 'bezel_open_positions', help: 'Open positions.', value: ({ openPositions }) => openPositions() },
]

const CHAIN_COUNTERS: readonly ChainSeries[] = [
  {
    name: 'bezel_rpc_round_trips_total',
    help: "Requests to the chain's node.",
    value: ({ roundTrips }) => roundTrips(),
  },
  {
    name: 'bezel_chain_undone_blocks_total',
    help: 'Followed blocks that a reorganisation undid.',
    value: ({ undoneBlocks }) => undoneBlocks(),
  },
]

/** Adds what is read from the running parts. To be called once, when all of them are there. */
export function watchDeployment({ registry }: Metrics, sources: DeploymentSources): void {
  const registers = [registry]
  for (const { name, help, value } of CHAIN_GAUGES) {
    const gauge: Gauge = new Gauge({ name, help, labelNames: ['chain'], registers, collect: () => fill(gauge, value) })
  }
  for (const { name, help, value } of CHAIN_COUNTERS) {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: ['chain'],
      registers,
      collect: () => fill(counter, value),
    })
  }
  const orders: Gauge = new Gauge({
    name: 'bezel_orders',
    help: 'Orders by status.',
    labelNames: ['status'],
    registers,
    collect() {
      const counts = sources.ordersByStatus()
      for (const status of ORDER_STATUSES) orders.set({ status }, counts.get(status) ?? 0)
    },
  })
  const nonces: Gauge = new Gauge({
    name: 'bezel_nonces_remembered',
    help: 'Used nonces that are still refused.',
    registers,
    collect: () => nonces.set(sources.noncesRemembered()),
  })

  function fill(series: Gauge | Counter, value: ChainSeries['value']): void {
    series.reset()
    for (const source of sources.chains) {
      const now = value(source)
      if (now !== undefined) series.inc({ chain: source.chain }, now)
    }
  }
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000
}
