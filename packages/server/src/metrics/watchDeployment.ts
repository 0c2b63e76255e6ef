import { ORDER_STATUSES, type ChainSlug, type OrderStatus } from '@bezel/protocol'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Metrics } from './createMetrics.ts'
import type { AccountStats } from '../accounts/chainAccounts.ts'
import type { FeedPulse } from '../market/feed/feed.ts'
import type { MarketsStats } from '../market/watchChainMarkets.ts'
import type { RelayerHealth } from '../facade/relayer/relayerHealth.ts'

/** The sources of one chain's numbers. All are read at each scrape, so they must be in memory. */
export interface ChainSource {
  readonly chain: ChainSlug
  readonly isReady: () => boolean
  readonly roundTrips: () => number
  readonly head: () => { readonly number: number; readonly timestampMs: number } | undefined
  /** Number of the last final block; `undefined` before the first followed one. */
  readonly finalBlock: () => number | undefined
  /** Blocks behind the node's head, as of its last poll. */
  readonly lagBlocks: () => number
  readonly undoneBlocks: () => number
  readonly openPositions: () => number
  /** Number of tradable pairs that are left out of the markets, because they have no price. */
  readonly marketsLeftOut: () => number
  readonly markets: () => MarketsStats
  /** Number of traders of whom it is not proven that everything on the chain is known. */
  readonly unprovenTraders: () => number
  /** Progress of the chain's snapshot; `undefined` when it has none. */
  readonly snapshot: () => { readonly listed: number; readonly read: number } | undefined
}

export interface DeploymentSources {
  readonly chains: readonly ChainSource[]
  /** The orders of all nodes; `undefined` until they are counted, and on a node that leaves telling them to another. */
  readonly ordersByStatus: () => ReadonlyMap<OrderStatus, number> | undefined
  readonly noncesRemembered: () => number
  /** Number of anonymous requests that were refused because there was too much to do. */
  readonly shedRequests: () => number
  readonly feedPulse: () => FeedPulse | undefined
}

/** A time series. */
export interface MetricSeries<Source> {
  readonly name: string
  readonly help: string
  /** Returns the current number, or `undefined` to omit it while it is not known. */
  readonly value: (source: Source) => number | undefined
}

const CHAIN_GAUGES: readonly MetricSeries<ChainSource>[] = [
  { name: 'bezel_chain_ready', help: '1 while the chain can be used.', value: ({ isReady }) => Number(isReady()) },
  { name: 'bezel_chain_head_block', help: 'Last followed block.', value: ({ head }) => head()?.number },
  {
    name: 'bezel_chain_head_timestamp_seconds',
    help: 'Time of the last followed block, as the chain has it.',
    value: ({ head }) => secondsOf(head()?.timestampMs),
  },
  {
    name: 'bezel_chain_final_block',
    help: 'Last block that is never undone.',
    value: ({ finalBlock }) => finalBlock(),
  },
  { name: 'bezel_chain_lag_blocks', help: "Blocks behind the node's head.", value: ({ lagBlocks }) => lagBlocks() },
  { name: 'bezel_open_positions', help: 'Open positions.', value: ({ openPositions }) => openPositions() },
  {
    name: 'bezel_markets_left_out',
    help: 'Tradable pairs that are left out of the markets, because the price feed has no price of them.',
    value: ({ marketsLeftOut }) => marketsLeftOut(),
  },
  {
    name: 'bezel_unproven_traders',
    help: 'Traders who are refused, because not everything that they have on the chain is known.',
    value: ({ unprovenTraders }) => unprovenTraders(),
  },
  {
    name: 'bezel_snapshot_traders_listed',
    help: "Entries in the Diamond's list of traders at the block of the snapshot.",
    value: ({ snapshot }) => snapshot()?.listed,
  },
  {
    name: 'bezel_snapshot_traders_read',
    help: 'Entries of that list that are read; all of them once the snapshot is complete.',
    value: ({ snapshot }) => snapshot()?.read,
  },
]

const CHAIN_COUNTERS: readonly MetricSeries<ChainSource>[] = [
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
  {
    name: 'bezel_markets_reads_total',
    help: "Reads of all of the chain's markets: at a start and when settings change.",
    value: ({ markets }) => markets().reads,
  },
  {
    name: 'bezel_markets_differences_total',
    help: 'Values of markets that the chain had otherwise than its events told. They were corrected.',
    value: ({ markets }) => markets().differences,
  },
]

const FEED_GAUGES: readonly MetricSeries<FeedPulse | undefined>[] = [
  {
    name: 'bezel_feed_heard_timestamp_seconds',
    help: 'Time of the last message of the price feed.',
    value: (pulse) => secondsOf(pulse?.heardAtMs),
  },
  {
    name: 'bezel_feed_price_timestamp_seconds',
    help: 'Time of the last price of any pair.',
    value: (pulse) => secondsOf(pulse?.pricedAtMs),
  },
]

/** Adds the metrics that are read from the running parts. Call it once, when all of them exist. */
export function watchDeployment({ registry }: Metrics, sources: DeploymentSources): void {
  const registers = [registry]
  const byChain = (): [ChainSlug, ChainSource][] => sources.chains.map((source) => [source.chain, source])
  addGauges(registry, CHAIN_GAUGES, byChain)
  addCounters(registry, CHAIN_COUNTERS, byChain)
  const orders: Gauge = new Gauge({
    name: 'bezel_orders',
    help: 'Orders by status.',
    labelNames: ['status'],
    registers,
    collect() {
      const counts = sources.ordersByStatus()
      if (counts === undefined) return orders.reset()
      for (const status of ORDER_STATUSES) orders.set({ status }, counts.get(status) ?? 0)
    },
  })
  const nonces: Gauge = new Gauge({
    name: 'bezel_nonces_remembered',
    help: 'Used nonces that are still refused.',
    registers,
    collect: () => nonces.set(sources.noncesRemembered()),
  })
  const shed: Counter = new Counter({
    name: 'bezel_http_shed_total',
    help: 'Anonymous requests refused because there was too much to do.',
    registers,
    collect() {
      shed.reset()
      shed.inc(sources.shedRequests())
    },
  })
  for (const { name, help, value } of FEED_GAUGES) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers,
      collect() {
        const seconds = value(sources.feedPulse())
        if (seconds !== undefined && Number.isFinite(seconds)) gauge.set(seconds)
      },
    })
  }
}

/** The accounts of every chain, read at each scrape. */
type AccountSources = ReadonlyMap<ChainSlug, { stats(): AccountStats }>

const ACCOUNT_COUNTERS: readonly MetricSeries<AccountStats>[] = [
  {
    name: 'bezel_account_rounds_total',
    help: 'Rounds that read the accounts of subscribed and active traders, without those that failed.',
    value: ({ rounds }) => rounds,
  },
]

const ACCOUNT_GAUGES: readonly MetricSeries<AccountStats>[] = [
  {
    name: 'bezel_accounts_watched',
    help: 'Subscribed and active traders in the last round.',
    value: ({ watched }) => watched,
  },
  {
    name: 'bezel_account_round_timestamp_seconds',
    help: 'When the last round ended.',
    value: ({ lastRoundAtMs }) => secondsOf(lastRoundAtMs),
  },
]

/** Adds the metrics of the rounds that keep accounts fresh. Call it once. */
export function watchAccounts({ registry }: Metrics, accounts: AccountSources): void {
  const byChain = (): [ChainSlug, AccountStats][] => [...accounts].map(([chain, { stats }]) => [chain, stats()])
  addCounters(registry, ACCOUNT_COUNTERS, byChain)
  addGauges(registry, ACCOUNT_GAUGES, byChain)
}

/** The relayer of every chain that has one, read at each scrape. */
type RelayerSources = ReadonlyMap<ChainSlug, { health(): RelayerHealth }>

const RELAYER_GAUGES: readonly MetricSeries<RelayerHealth>[] = [
  {
    name: 'bezel_relayer_balance_wei',
    help: 'Native balance of the relayer.',
    value: ({ balanceWei }) => (balanceWei === null ? undefined : Number(balanceWei)),
  },
  { name: 'bezel_relayer_low', help: '1 while the relayer has to be topped up.', value: ({ isLow }) => Number(isLow) },
  {
    name: 'bezel_relayer_budget_wei',
    help: 'Gas budget of all traders for the current UTC day.',
    value: ({ budgetWei }) => Number(budgetWei),
  },
  {
    name: 'bezel_relayer_budget_used_wei',
    help: 'Gas counted on the current UTC day, with what was set aside on it.',
    value: ({ usedWei }) => Number(usedWei),
  },
  {
    name: 'bezel_relayer_budget_low',
    help: "1 while the day's gas budget is nearly used up.",
    value: ({ isBudgetLow }) => Number(isBudgetLow),
  },
  {
    name: 'bezel_relayer_set_aside_wei',
    help: 'Gas that is set aside for the ways out of open orders and positions.',
    value: ({ asideWei }) => Number(asideWei),
  },
  { name: 'bezel_relayer_waiting', help: 'Relayed transactions that are not mined.', value: ({ waiting }) => waiting },
  { name: 'bezel_relayer_unsettled', help: 'Relayed transactions that are not final.', value: (of) => of.unsettled },
  {
    name: 'bezel_relayer_oldest_waiting_seconds',
    help: 'Age of the oldest relayed transaction that is not mined.',
    value: ({ oldestWaitingMs }) => oldestWaitingMs / 1000,
  },
]

const RELAYER_COUNTERS: readonly MetricSeries<RelayerHealth>[] = [
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

/** Adds the metrics of the relayers. Call it once. */
export function watchRelayers({ registry }: Metrics, relayers: RelayerSources): void {
  const byChain = (): [ChainSlug, RelayerHealth][] => [...relayers].map(([chain, relayer]) => [chain, relayer.health()])
  addGauges(registry, RELAYER_GAUGES, byChain)
  addCounters(registry, RELAYER_COUNTERS, byChain)
}

/** Reads the sources of all chains. */
export type ByChain<Source> = () => Iterable<readonly [ChainSlug, Source]>

export function addGauges<Source>(
  registry: Registry,
  series: readonly MetricSeries<Source>[],
  byChain: ByChain<Source>,
): void {
  const of = { labelNames: ['chain'], registers: [registry] }
  for (const { name, help, value } of series) {
    const gauge: Gauge = new Gauge({ ...of, name, help, collect: () => fill(gauge, value, byChain) })
  }
}

export function addCounters<Source>(
  registry: Registry,
  series: readonly MetricSeries<Source>[],
  byChain: ByChain<Source>,
): void {
  const of = { labelNames: ['chain'], registers: [registry] }
  for (const { name, help, value } of series) {
    const counter: Counter = new Counter({ ...of, name, help, collect: () => fill(counter, value, byChain) })
  }
}

function fill<Source>(series: Gauge | Counter, value: MetricSeries<Source>['value'], byChain: ByChain<Source>): void {
  series.reset()
  for (const [chain, source] of byChain()) {
    const now = value(source)
    if (now !== undefined) series.inc({ chain }, now)
  }
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000
}
