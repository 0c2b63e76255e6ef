import type { SigningDomain } from '@bezel/protocol'
import { authMessage, openStream, type StreamClient } from '../e2e/stream/streamClient.ts'
import { openCluster } from '../e2e/cluster/openCluster.ts'
import { openBenchAgent, type BenchAgent } from './client/benchAgent.ts'
import { NO_LIMITS, QUIET_SERVICE } from './client/undisturbed.ts'
import { percentile } from './measure/median.ts'

// Measures the way of a commit to a socket of another node: from the answer to an order that was prepared at one node
// to the frame of its event at the other, with Redis and without. Commits reach the disk.

const ORDERS = 400
const WARM_UP = 40
const MINING_MS = 50
/** A socket that says nothing for a minute is closed. */
const ORDERS_PER_PING = 20

/** Limits in ms. */
const LIMITS = {
  'with Redis': { p50: 15, p99: 60 },
  'without Redis': { p50: undefined, p99: 250 },
} as const

type Place = keyof typeof LIMITS

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10', collateral: 'USDC' }

/** Prints the table. Returns true when all limits are met. */
export async function run(): Promise<boolean> {
  const rows: Record<string, unknown> = {}
  let isMet = true
  for (const place of ['with Redis', 'without Redis'] as const) {
    const delays = await measure(place)
    const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)]
    const limits = LIMITS[place]
    const met = p50 <= (limits.p50 ?? Infinity) && p99 <= limits.p99
    isMet &&= met
    rows[place] = {
      'p50 ms': p50.toFixed(1),
      'limit p50': limits.p50,
      'p99 ms': p99.toFixed(1),
      'limit p99': limits.p99,
      met,
    }
  }
  console.log(`Commit at one node to the frame at another, ${ORDERS} orders`)
  console.table(rows)
  return isMet
}

/** Returns the delay of each order in ms. */
async function measure(place: Place): Promise<number[]> {
  const cluster = await openCluster({
    size: 2,
    isDurable: true,
    hasRedis: place === 'with Redis',
    devnet: { DEVNET_BLOCK_MS: '60000' },
    settings: { ...NO_LIMITS, ...QUIET_SERVICE },
  })
  try {
    const mining = setInterval(() => void cluster.chain.control('evm_mine').catch(() => undefined), MINING_MS)
    const lane = await openBenchAgent({ ...cluster, url: cluster.urlOf(0) }, 1)
    clearInterval(mining)
    const arrivals = new Map<string, number>()
    const stream = await listen(cluster.urlOf(1), cluster.domain, cluster.chain.account('agent-1'), arrivals)
    const delays: number[] = []
    for (let at = 0; at < ORDERS + WARM_UP; at += 1) {
      if (at % ORDERS_PER_PING === 0) stream.send({ op: 'ping' })
      const delay = await delayOf(lane, arrivals, stream)
      if (at >= WARM_UP) delays.push(delay)
    }
    stream.cut()
    lane.close()
    return delays
  } finally {
    await cluster.close()
  }
}

/** Opens a socket that notes when the event of each prepared order arrives. */
async function listen(
  url: string,
  domain: SigningDomain,
  agent: Parameters<typeof authMessage>[1],
  arrivals: Map<string, number>,
): Promise<StreamClient> {
  const stream = await openStream(url, {
    onMessage({ json }) {
      if (json.channel !== 'orders' || json.snapshot === true) return
      if (json.data?.status === 'prepared') arrivals.set(json.data.id, performance.now())
    },
  })
  stream.send(await authMessage(domain, agent))
  stream.send({ op: 'subscribe', channel: 'orders' })
  await stream.next('a snapshot', ({ channel, snapshot }) => channel === 'orders' && snapshot === true)
  return stream
}

async function delayOf(lane: BenchAgent, arrivals: ReadonlyMap<string, number>, stream: StreamClient): Promise<number> {
  const { body } = await lane.ask({ operation: 'createOrder', method: 'POST', path: '/orders', body: ORDER })
  const answeredMs = performance.now()
  const { id } = body.order as { readonly id: string }
  await stream.next('the event', ({ data }) => data?.id === id)
  await lane.ask({ operation: 'cancelOrder', method: 'DELETE', path: `/orders/${id}` })
  // A frame may be quicker than the answer.
  return Math.max(0, arrivals.get(id)! - answeredMs)
}
