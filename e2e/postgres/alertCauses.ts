import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { tradeOf } from '@bezel/testkit/chainClient.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import type { RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import type { RunningRedis } from '@bezel/testkit/startRedis.ts'
import type { RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'
import { Client } from 'pg'
import { zeroAddress, type Address } from 'viem'
import type { FaultyProxy } from '../outages/faultyProxy.ts'
import { NO_LOGS } from '../outages/lies.ts'
import { placeRelayed } from './relayedOrder.ts'

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

/** Longer than the lag of the event loop at which the rule fires, and far shorter than a lease. */
const STANDSTILL_MS = 400

/** Age of the last price at which the rule fires, in seconds. */
const FEED_SILENT_S = 15

/** A deployment whose parts can be taken away. */
export interface AlertWorld {
  readonly devnet: RunningDevnet
  readonly provider: FaultyProxy
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
const RELAYED_TRADER = 'trader-4'
/** Traders that are doubted: more than one look reads again, so that a scrape sees them. */
const DOUBTED_TRADERS = 2_000
const RELAYER_BALANCE_WEI = '0x21e19e0c9bab2400000'

let letRun: (() => void) | undefined

/** The connection whose transaction holds what others wait for. */
let holder: Client | undefined

const openTrade = async ({ chain }: AlertWorld): Promise<void> => {
  const trader = chain.account('trader-3')
  await chain.send(trader, 'openTrade', [tradeOf(chain, trader.address, { price: 60_000n }), 1_000, zeroAddress])
}

/** Finds the block in which an account's newest transaction was mined. */
async function blockOfLastNonce({ client }: ChainClient, address: Address): Promise<number> {
  const used = await client.getTransactionCount({ address })
  let number = await client.getBlockNumber({ cacheTime: 0 })
  while ((await client.getTransactionCount({ address, blockNumber: number - 1n })) === used) number -= 1n
  return Number(number)
}

async function untilReady({ nodes }: AlertWorld): Promise<void> {
  await until('the nodes are ready', async (saw) => {
    const answers = await Promise.all(nodes().map(async ({ url }) => (await fetch(`${url}/ready`)).text()))
    saw(answers)
    return answers.every((text) => JSON.parse(text).ready === true)
  })
}

/** Lets a process stand still for half of the time. Returns the function that ends it. */
function keepStopping({ pid }: RunningService): () => void {
  let isStopped = false
  const turn = (to: boolean): void => {
    isStopped = to
    process.kill(pid, to ? 'SIGSTOP' : 'SIGCONT')
  }
  const turns = setInterval(() => turn(!isStopped), STANDSTILL_MS)
  return () => {
    clearInterval(turns)
    turn(false)
  }
}

/** Everything that alerts tell of and that can be provoked here, in an order in which nothing disturbs the next. */
export const CAUSES: readonly Cause[] = [
  {
    name: 'a process that has too much to do',
    alerts: { BezelEventLoopSlow: some('nodejs_eventloop_lag_p99_seconds', (seconds) => seconds > 0.2) },
    async provoke({ nodes }) {
      letRun = keepStopping(nodes()[0]!)
    },
    async heal(world) {
      letRun?.()
      await untilReady(world)
    },
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
    name: 'a program that uses the key of the relayer, whose own transaction is never mined',
    alerts: {
      BezelRelayerStuck: some('bezel_relayer_oldest_waiting_seconds', (seconds) => seconds > 0),
      BezelRelayerKeyElsewhere: grows('bezel_relayer_lost_total'),
    },
    async provoke(world) {
      const { devnet, chain, nodes } = world
      const [trader, relayer] = [chain.account(RELAYED_TRADER), chain.account('relayer')]
      await chain.send(trader, 'setTradingDelegate', [relayer.address])
      await until('the order rests', async (saw) => {
        const { body } = await placeRelayed(devnet, nodes()[0]!, RELAYED_TRADER)
        saw(body)
        return body.response?.data?.statuses?.[0]?.resting
      })
      // Nobody sends it again before the stranger has used its nonce.
      for (const { pid } of nodes()) process.kill(pid, 'SIGSTOP')
      try {
        await chain.control('bezel_reorgFrom', await blockOfLastNonce(chain, relayer.address), 'drop')
        await chain.send(relayer, 'setTradingDelegate', [trader.address])
      } finally {
        for (const { pid } of nodes()) process.kill(pid, 'SIGCONT')
      }
    },
    heal: untilReady,
  },
  {
    name: 'a node of the chain that hides logs',
    alerts: { BezelMarketsDiffer: grows('bezel_markets_differences_total') },
    async provoke(world) {
      world.provider.fault = { kind: 'lies', lie: NO_LOGS }
      await openTrade(world)
    },
    async heal({ provider }) {
      provider.fault = { kind: 'none' }
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
