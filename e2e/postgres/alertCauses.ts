import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { tradeOf } from '@bezel/testkit/chainClient.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import type { RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import type { RunningRedis } from '@bezel/testkit/startRedis.ts'
import type { RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'
import { Client } from 'pg'
import { zeroAddress } from 'viem'

/** The values of all series of several nodes by name, with the labels as the scrape has them. */
export type Values = ReadonlyMap<string, readonly { readonly labels: string; readonly value: number }[]>

/** Reads the values of several scrapes. */
export function readValues(texts: readonly string[]): Values {
  const values = new Map<string, { labels: string; value: number }[]>()
  for (const [, name, labels = '', value] of texts.join('\n').matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    values.set(name!, [...(values.get(name!) ?? []), { labels, value: Number(value) }])
  }
  return values
}

/** The way in which a rule's series has to move. */
export interface Movement {
  readonly series: string
  isSeen(now: Values, before: Values): boolean
}

const some = (series: string, isSo: (value: number) => boolean): Movement => ({
  series,
  isSeen: (now) => now.get(series)?.some(({ value }) => isSo(value)) === true,
})

/** A counter that grows, by more than `by` over all nodes. */
const grows = (series: string, { by = 0, label = '' } = {}): Movement => {
  const sum = (of: Values): number =>
    (of.get(series) ?? []).reduce((total, { labels, value }) => total + (labels.includes(label) ? value : 0), 0)
  return { series, isSeen: (now, before) => sum(now) - sum(before) > by }
}

/** A role that no node leads. */
const nobodyLeads: Movement = {
  series: 'bezel_lease_held',
  isSeen: (now) => {
    const held = Map.groupBy(now.get('bezel_lease_held') ?? [], ({ labels }) => labels)
    return [...held.values()].some((ofRole) => ofRole.every(({ value }) => value === 0))
  },
}

/** Age of the last price at which the rule fires, in seconds. */
const FEED_SILENT_S = 15

/** A deployment whose parts can be taken away. */
export interface AlertWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly server: RunningPostgres
  readonly redis: RunningRedis
  readonly database: string
  readonly nodes: () => readonly RunningService[]
  readonly scrapes: () => Promise<string[]>
}

/** Something that goes wrong, and the alerts whose series move by it. `heal` makes it good again. */
export interface Cause {
  readonly name: string
  readonly alerts: Readonly<Record<string, Movement>>
  provoke(world: AlertWorld): Promise<void>
  heal(world: AlertWorld): Promise<void>
}

const FACET = 'TradingInteractionsFacet'
const SLUG = 'arbitrum-sepolia'
/** Traders that are doubted: more than one look reads again, so that a scrape sees them. */
const DOUBTED_TRADERS = 2_000
const RELAYER_BALANCE_WEI = '0x21e19e0c9bab2400000'

/** The connection whose transaction holds what others wait for. */
let holder: Client | undefined

const openTrade = async ({ chain }: AlertWorld): Promise<void> => {
  const trader = chain.account('trader-3')
  await chain.send(trader, 'openTrade', [tradeOf(chain, trader.address, { price: 60_000n }), 1_000, zeroAddress])
}

async function untilReady({ nodes }: AlertWorld): Promise<void> {
  await until('the nodes are ready', async (saw) => {
    const answers = await Promise.all(nodes().map(async ({ url }) => (await fetch(`${url}/ready`)).text()))
    saw(answers)
    return answers.every((text) => JSON.parse(text).ready === true)
  })
}

/** Stops a process until the chain has a few blocks more. A scrape begins what it measures of itself anew. */
async function freeze({ chain, scrapes }: AlertWorld, { pid }: RunningService): Promise<void> {
  const first = await chain.client.getBlockNumber({ cacheTime: 0 })
  await scrapes()
  process.kill(pid, 'SIGSTOP')
  try {
    await until('blocks went by', async () => (await chain.client.getBlockNumber({ cacheTime: 0 })) > first + 4n)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** Everything that alerts tell of and that can be provoked here, in an order in which nothing disturbs the next. */
export const CAUSES: readonly Cause[] = [
  {
    name: 'a process that has too much to do',
    alerts: { BezelEventLoopSlow: some('nodejs_eventloop_lag_p99_seconds', (seconds) => seconds > 0.2) },
    provoke: (world) => freeze(world, world.nodes()[0]!),
    heal: untilReady,
  },
  {
    name: 'traders of whom not everything is known',
    alerts: { BezelTradersRefused: some('bezel_unproven_traders', (traders) => traders > 0) },
    async provoke({ server, database }) {
      await server.psql(
        database,
        `insert into unproven_traders (chain, trader, reason)
         select '${SLUG}', '0x' || lpad(to_hex(n), 40, '0'), 'a test' from generate_series(1, ${DOUBTED_TRADERS}) n`,
      )
    },
    heal: ({ server, database }) => server.psql(database, 'delete from unproven_traders').then(() => undefined),
  },
  {
    name: 'a relayer without gas',
    alerts: { BezelRelayerLow: some('bezel_relayer_low', (low) => low === 1) },
    async provoke({ chain }) {
      await chain.control('hardhat_setBalance', chain.account('relayer').address, '0x1')
    },
    async heal({ chain }) {
      await chain.control('hardhat_setBalance', chain.account('relayer').address, RELAYER_BALANCE_WEI)
    },
  },
  {
    name: 'a store in which a transaction holds what others wait for',
    alerts: {
      BezelFollowerBehind: some('bezel_chain_lag_blocks', (blocks) => blocks > 0),
      BezelStoreWaits: grows('bezel_store_wait_seconds_total', { by: 0.2 }),
    },
    async provoke({ server, database }) {
      holder = new Client({ connectionString: server.urlOf(database) })
      await holder.connect()
      await holder.query('begin')
      await holder.query('lock table chain_times in access exclusive mode')
    },
    heal: async () => holder?.end(),
  },
  {
    name: 'contracts that are cut',
    alerts: {
      BezelDiamondCut: grows('bezel_diamond_cuts_total'),
      BezelDiamondChanged: some('bezel_diamond_changed', (changed) => changed === 1),
    },
    async provoke({ chain }) {
      await chain.control('bezel_cutDiamond', 'remove', 'updateSl')
    },
    async heal({ chain }) {
      await chain.control('bezel_cutDiamond', 'replace', FACET)
    },
  },
  {
    name: 'logs in another layout',
    alerts: { BezelLogsNotUnderstood: grows('bezel_diamond_undecoded_logs_total') },
    async provoke(world) {
      const { chain } = world
      await chain.control('bezel_freezePrice', 'BTC/USD', true)
      await chain.control('bezel_setPrice', 'BTC/USD', '60000')
      await openTrade(world)
      await chain.event(({ eventName }) => eventName === 'MarketExecuted')
      await chain.control('bezel_cutDiamond', 'replace', 'OtherLayoutFacet')
      await chain.send(chain.account('trader-3'), 'updateTp', [0, 0n])
    },
    async heal({ chain }) {
      await chain.control('bezel_cutDiamond', 'replace', FACET)
    },
  },
  {
    name: 'an oracle that executes nothing',
    alerts: { BezelRequestsStalled: some('bezel_requests_stalled', (stalled) => stalled === 1) },
    async provoke(world) {
      await world.chain.control('bezel_pauseOracle', true)
      await openTrade(world)
      // Two steps: a request waits from the time of its block on.
      await world.chain.control('evm_increaseTime', 30)
      await world.chain.control('evm_mine')
    },
    async heal({ chain }) {
      await chain.control('bezel_pauseOracle', false)
    },
  },
  {
    name: 'database, Redis, node of the chain and price feed away at once',
    alerts: {
      BezelChainNotReady: some('bezel_chain_ready', (ready) => ready === 0),
      BezelProviderUnwell: some('bezel_provider_up', (up) => up === 0),
      BezelFeedSilent: some('bezel_feed_price_timestamp_seconds', (at) => Date.now() / 1000 - at > FEED_SILENT_S),
      BezelNoLeader: nobodyLeads,
      BezelJournalBehind: some('bezel_journal_age_seconds', (age) => age > 2),
      BezelRedisAway: some('bezel_redis_up', (up) => up === 0),
      BezelErrors: grows('bezel_http_requests_total', { label: 'status="5xx"' }),
    },
    async provoke({ devnet, server, redis, nodes }) {
      devnet.child.kill('SIGSTOP')
      await Promise.all([server.stop('immediate'), redis.stop()])
      await until('a request fails', async () => (await fetch(`${nodes()[0]!.url}/v1/${SLUG}/prices`)).status === 503)
    },
    async heal(world) {
      world.devnet.child.kill('SIGCONT')
      await Promise.all([world.server.start(), world.redis.start()])
      await untilReady(world)
    },
  },
]

/**
 * Rules that take minutes of a transaction that nobody mines, a stranger with the key, or a node that hides a log:
 * their tests are named.
 */
export const SHOWN_BESIDE: Readonly<Record<string, { readonly series: string; readonly test: string }>> = {
  BezelMarketsDiffer: {
    series: 'bezel_markets_differences_total',
    test: 'packages/server/src/metrics/metrics.test.ts',
  },
  BezelRelayerStuck: {
    series: 'bezel_relayer_oldest_waiting_seconds',
    test: 'packages/server/src/metrics/watchDeployment.test.ts',
  },
  BezelRelayerKeyElsewhere: {
    series: 'bezel_relayer_lost_total',
    test: 'packages/server/src/metrics/watchDeployment.test.ts',
  },
}
