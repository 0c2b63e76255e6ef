import { readFileSync } from 'node:fs'
import { openCluster, type Cluster } from '../e2e/cluster/openCluster.ts'
import { openBenchAgent, type BenchAgent } from './client/benchAgent.ts'
import { NO_LIMITS, QUIET_SERVICE } from './client/undisturbed.ts'
import { median } from './measure/median.ts'

// Compares what two nodes do in a second of their processors with what one does: orders are prepared, listed and
// withdrawn with 16 requests in flight, at one node and at both in turns. Commits reach the disk. The second node has
// the role api alone. Trips to the database and to Redis are counted by tests (orders/trips, access/sharedAdmission).

const LANES = 16
/** Traders of the local chain. */
const TRADERS = 5
const ROUNDS = 6
const ORDERS_PER_LANE = 12
const REQUESTS_PER_ORDER = 3
/** Requests per second of the processors with two nodes, as a share of those with one. */
const MIN_RATIO = 0.9
const MINING_MS = 50
/** Parts of a second in which the system counts the time of a process. */
const TICKS_PER_SECOND = 100

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10', collateral: 'USDC' }

/** Prints the table. Returns true when the limit is met. */
export async function run(): Promise<boolean> {
  const cluster = await openCluster({
    size: 2,
    roles: ['', 'api'],
    isDurable: true,
    devnet: { DEVNET_BLOCK_MS: '60000' },
    settings: { ...NO_LIMITS, ...QUIET_SERVICE, BEZEL_MAX_PREPARED_ORDERS: '100' },
  })
  try {
    return print(await measure(cluster))
  } finally {
    await cluster.close()
  }
}

/** Requests per second of the processors, of each round. */
interface Rates {
  readonly one: number[]
  readonly two: number[]
}

async function measure(cluster: Cluster): Promise<Rates> {
  const mining = setInterval(() => void cluster.chain.control('evm_mine').catch(() => undefined), MINING_MS)
  const lanes = await openLanes(cluster, 0, LANES)
  const others = await openLanes(cluster, 1, LANES / 2)
  clearInterval(mining)
  const both = [...lanes.slice(0, LANES / 2), ...others]
  const rates: Rates = { one: [], two: [] }
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const one = await measureRound(lanes, () => cpuSeconds(cluster.pidOf(0)))
    const two = await measureRound(both, () => cpuSeconds(cluster.pidOf(0)) + cpuSeconds(cluster.pidOf(1)))
    if (round === 0) continue
    rates.one.push(one)
    rates.two.push(two)
  }
  for (const lane of [...lanes, ...others]) lane.close()
  return rates
}

async function openLanes(cluster: Cluster, node: number, count: number): Promise<BenchAgent[]> {
  const lanes: BenchAgent[] = []
  for (let at = 0; at < count; at += 1) {
    lanes.push(await openBenchAgent({ ...cluster, url: cluster.urlOf(node) }, 1 + (at % TRADERS)))
  }
  return lanes
}

async function measureRound(lanes: readonly BenchAgent[], cpu: () => number): Promise<number> {
  const before = cpu()
  await Promise.all(lanes.map(work))
  return (lanes.length * ORDERS_PER_LANE * REQUESTS_PER_ORDER) / (cpu() - before)
}

async function work(lane: BenchAgent): Promise<void> {
  for (let at = 0; at < ORDERS_PER_LANE; at += 1) {
    const { body } = await lane.ask({ operation: 'createOrder', method: 'POST', path: '/orders', body: ORDER })
    await lane.ask({ operation: 'listOpenOrders', method: 'GET', path: `/account/${lane.trader}/orders` })
    await lane.ask({ operation: 'cancelOrder', method: 'DELETE', path: `/orders/${body.order.id}` })
  }
}

/** Returns the time that a process has used of the processors. */
function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name of the program may hold spaces; the fields behind it do not.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function print({ one, two }: Rates): boolean {
  const ratio = median(two.map((rate, at) => rate / one[at]!))
  console.log(`Requests per second of the processors, ${LANES} in flight, ${TRADERS} traders`)
  console.table({
    'one node': { 'requests/s': Math.round(median(one)) },
    'two nodes': {
      'requests/s': Math.round(median(two)),
      ratio: ratio.toFixed(2),
      limit: MIN_RATIO,
      met: ratio >= MIN_RATIO,
    },
  })
  return ratio >= MIN_RATIO
}
