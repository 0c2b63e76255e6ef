import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { P10, tradeOf } from '@bezel/testkit/chainClient.ts'
import { authorize } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { authMessage, openStream, type StreamClient } from '../e2e/stream/streamClient.ts'
import { openCluster, type Cluster } from '../e2e/cluster/openCluster.ts'
import { percentile } from './measure/median.ts'

// Measures how long events of the chain are missing when the node that follows it ends: from the end of the leader to
// the first event of a later block on a socket of another node. `npm run bench -- failover 20` ends it 20 times in each
// way instead of 100.

const TIMES = Number(process.argv[3] ?? 100)
const NODES = 3
/** Limits of the p99 in ms. */
const LIMITS = { kill: 5_000, stop: 1_000 } as const
type How = keyof typeof LIMITS
const NAMES: Readonly<Record<How, string>> = { kill: 'leader killed', stop: 'leader stopped (SIGTERM)' }

const SLIPPAGE = 1_000
const PRICES = [50_000n, 50_100n] as const

/** Prints the table. Returns true when all limits are met. */
export async function run(): Promise<boolean> {
  const cluster = await openCluster({ size: NODES, isDurable: true, devnet: { DEVNET_BLOCK_MS: '100' } })
  const state = { isOver: false }
  try {
    await authorize(
      { chain: cluster.chain, url: () => cluster.front.url },
      cluster.chain.account('trader-1'),
      cluster.chain.account('agent-1'),
    )
    const moving = keepMoving(cluster, state)
    const ids = createIds(cluster)
    const rows: Record<string, unknown> = {}
    let isMet = true
    for (const how of ['kill', 'stop'] as const) {
      const delays: number[] = []
      for (let at = 0; at < TIMES; at += 1) delays.push(await failOver(cluster, ids, how))
      const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)]
      const met = p99 <= LIMITS[how]
      isMet &&= met
      rows[NAMES[how]] = { 'p50 ms': Math.round(p50), 'p99 ms': Math.round(p99), limit: LIMITS[how], met }
    }
    state.isOver = true
    await moving
    console.log(`End of the leader to the next event at another node, ${TIMES} times each`)
    console.table(rows)
    return isMet
  } finally {
    state.isOver = true
    await cluster.close()
  }
}

/** Changes a resting order again and again from the trader's wallet, so that almost every block has an event. */
async function keepMoving({ chain }: Cluster, state: { readonly isOver: boolean }): Promise<void> {
  const trader = chain.account('trader-1')
  const trade = tradeOf(chain, trader.address, { price: PRICES[0], tradeType: 1 })
  const placed = await chain.send(trader, 'openTrade', [trade, SLIPPAGE, trader.address])
  const stored = placed.find(({ eventName }) => eventName === 'TradeStored')
  const { index } = stored!.args as { readonly index: number }
  for (let at = 1; !state.isOver; at += 1) {
    await chain.send(trader, 'updateOpenOrder', [index, PRICES[at % 2 === 0 ? 0 : 1] * P10, 0n, 0n, SLIPPAGE])
  }
}

/** The ids of the nodes by their places. */
interface NodeIds {
  /** Returns the place of the node that leads the follower. */
  leader(): Promise<number>
  /** Notes that the node at a place has been started again. */
  restarted(at: number): Promise<void>
}

function createIds(cluster: Cluster): NodeIds {
  /** Ids in the order of their places; found out by stopping nobody: a node is known once it was started again. */
  const known: (string | undefined)[] = Array.from({ length: NODES })
  const live = (): Promise<string[]> => cluster.rows('select id from nodes order by started_at')

  async function restart(at: number): Promise<void> {
    const before = new Set(await live())
    await cluster.restart(at, 'stop')
    await note(at, before)
  }
  async function note(at: number, before: ReadonlySet<string>): Promise<void> {
    known[at] = (await live()).findLast((id) => !before.has(id))
  }
  return {
    async leader() {
      for (let at = 0; at < NODES; at += 1) if (known[at] === undefined) await restart(at)
      return until('a node leads', async () => {
        const [holder] = await cluster.rows(`select holder from leases where role = 'follower' and holder <> ''`)
        const at = known.indexOf(holder ?? 'nobody')
        return at < 0 ? undefined : { at }
      }).then(({ at }) => at)
    },
    async restarted(at) {
      const others = new Set(known.filter((_, place) => place !== at))
      const former = known[at]
      known[at] = (await live()).findLast((id) => !others.has(id) && id !== former)
    },
  }
}

/** Ends the leader, and returns the ms until the first event of a later block at another node. Starts it again. */
async function failOver(cluster: Cluster, ids: NodeIds, how: How): Promise<number> {
  const leader = await ids.leader()
  const stream = await listen(cluster, (leader + 1) % NODES)
  await stream.next('an event', ({ channel, block }) => channel === 'orders' && typeof block === 'number')
  const head = Number(await cluster.chain.client.getBlockNumber())
  const startedMs = performance.now()
  const ended = cluster.end(leader, how)
  await stream.next('the next event', ({ channel, block }) => channel === 'orders' && block > head)
  const delay = performance.now() - startedMs
  stream.cut()
  await ended
  await cluster.start(leader)
  await ids.restarted(leader)
  return delay
}

async function listen({ urlOf, domain, chain }: Cluster, node: number): Promise<StreamClient> {
  const stream = await openStream(urlOf(node))
  stream.send(await authMessage(domain, chain.account('agent-1')))
  stream.send({ op: 'subscribe', channel: 'orders' })
  await stream.next('a snapshot', ({ channel, snapshot }) => channel === 'orders' && snapshot === true)
  return stream
}
