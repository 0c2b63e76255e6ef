import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import type { PreparedOrder } from '@bezel/protocol'
import { migrate, openStore } from '../packages/server/src/store/openStore.ts'
import { openPostgres } from '../packages/server/src/store/postgres.ts'
import type { Store } from '../packages/server/src/store/sql.ts'
import { installPostgres } from '../scripts/installPostgres.ts'
import { openBenchAgent, type BenchAgent } from './client/benchAgent.ts'
import { LOGS_PER_BLOCK, openFollowing, serveRecording, timeBlocks, type RecordedChain } from './follow/followBlocks.ts'
import { median } from './measure/median.ts'
import { startDatabases, startService, type BenchService, type Databases } from './postgres/startServices.ts'

// Compares the store on PostgreSQL with SQLite: on loopback, and through a proxy in another process that makes each
// round trip 0.5 ms longer. Commits reach the disk in all of them.
//
// Orders: createOrder through the whole service, 16 requests in flight. The services take turns, and what was prepared
// is withdrawn between two rounds. Printed are medians of the rounds, and ratios of each round.
// Blocks: the follower over the recorded blocks of bench/follow.ts, answer of the node to commit.

const IN_FLIGHT = 16
/** Traders of the local chain. A request is alone with its trader, so more of them could go on at the same time. */
const TRADERS = 5
const ROUNDS = 5
const ORDERS_PER_LANE = 5
const TOTAL_LOGS = 8_000

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10', collateral: 'USDC' }
const QUIET_CHAIN = { DEVNET_BLOCK_MS: '60000' }
const CONNECTIONS = { connections: 20, statementMs: 10_000, idleTransactionMs: 10_000 }

/** Limits: orders per second as a share of SQLite's, and milliseconds of a block. */
const LIMITS = {
  near: { orders: 0.5, blockMs: 40 },
  far: { orders: 0.4, blockMs: 80 },
} as const

type Place = 'sqlite' | keyof typeof LIMITS
const PLACES: readonly Place[] = ['sqlite', 'near', 'far']
const NAMES: Readonly<Record<Place, string>> = {
  sqlite: 'SQLite',
  near: 'PostgreSQL on loopback',
  far: 'PostgreSQL, 0.5 ms away',
}
type PerPlace = Readonly<Record<Place, number[]>>

/** Prints both tables. Returns true when all limits are met. */
export async function run(): Promise<boolean> {
  installPostgres()
  const databases = await startDatabases()
  try {
    const recorded = await serveRecording(TOTAL_LOGS)
    const areBlocksFast = printBlocks(await measureBlocks(recorded, databases))
    recorded.stop()
    return printOrders(await measureOrders(databases)) && areBlocksFast
  } finally {
    await databases.remove()
  }
}

/** Returns the orders per second of each round. */
async function measureOrders(databases: Databases): Promise<PerPlace> {
  const devnet = await startDevnet(QUIET_CHAIN)
  const chain = createChainClient(devnet.file)
  const mining = setInterval(() => void chain.control('evm_mine').catch(() => undefined), 50)
  const services = {
    sqlite: await startService(devnet),
    near: await startService(devnet, (await databases.create('orders_near')).near),
    far: await startService(devnet, (await databases.create('orders_far')).far),
  } satisfies Record<Place, BenchService>
  const lanes: Record<Place, BenchAgent[]> = { sqlite: [], near: [], far: [] }
  for (const place of PLACES) {
    for (let at = 0; at < IN_FLIGHT; at += 1) {
      const world = { devnet, chain, url: services[place].url }
      lanes[place].push(await openBenchAgent(world, 1 + (at % TRADERS)))
    }
  }
  clearInterval(mining)
  const rates: PerPlace = { sqlite: [], near: [], far: [] }
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const place of PLACES) {
      const rate = await measureRound(lanes[place])
      if (round > 0) rates[place].push(rate)
    }
  }
  for (const place of PLACES) {
    for (const lane of lanes[place]) lane.close()
    await services[place].close()
  }
  await devnet.stop()
  return rates
}

/** Prepares orders in all lanes at once, and withdraws them again. Returns the orders per second. */
async function measureRound(lanes: readonly BenchAgent[]): Promise<number> {
  const started = performance.now()
  const made = await Promise.all(lanes.map(prepareSome))
  const seconds = (performance.now() - started) / 1_000
  await Promise.all(lanes.map((lane, at) => withdraw(lane, made[at]!)))
  return made.flat().length / seconds
}

async function prepareSome(lane: BenchAgent): Promise<PreparedOrder[]> {
  const made: PreparedOrder[] = []
  for (let at = 0; at < ORDERS_PER_LANE; at += 1) {
    const { body } = await lane.ask({ operation: 'createOrder', method: 'POST', path: '/orders', body: ORDER })
    made.push(body as PreparedOrder)
  }
  return made
}

async function withdraw(lane: BenchAgent, orders: readonly PreparedOrder[]): Promise<void> {
  for (const { order } of orders) {
    await lane.ask({ operation: 'cancelOrder', method: 'DELETE', path: `/orders/${order.id}` })
  }
}

/** Returns the milliseconds of each block. */
async function measureBlocks(recorded: RecordedChain, databases: Databases): Promise<PerPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const openAt = async (url: string): Promise<Store> => {
    const store = openPostgres({ url, ...CONNECTIONS })
    await migrate(store)
    return store
  }
  const stores: Record<Place, Store> = {
    sqlite: await openStore(folder),
    near: await openAt((await databases.create('blocks_near')).near),
    far: await openAt((await databases.create('blocks_far')).far),
  }
  const times: Record<Place, number[]> = { sqlite: [], near: [], far: [] }
  for (const place of PLACES) {
    times[place] = await timeBlocks(recorded, await openFollowing(recorded, stores[place]))
    await stores[place].close()
  }
  rmSync(folder, { recursive: true, force: true })
  return times
}

function printOrders(rates: PerPlace): boolean {
  const ratioOf = (place: Place): number => median(rates[place].map((rate, at) => rate / rates.sqlite[at]!))
  console.log(`createOrder through the service, ${IN_FLIGHT} in flight, ${TRADERS} traders`)
  return printTable(PLACES, (place) => {
    const limit = place === 'sqlite' ? undefined : LIMITS[place].orders
    const [value, ratio] = [median(rates[place]), ratioOf(place)]
    return { cells: { 'orders/s': Math.round(value), ratio: ratio.toFixed(2) }, limit, isMet: ratio >= (limit ?? 0) }
  })
}

function printBlocks(times: PerPlace): boolean {
  console.log(`Block of ${LOGS_PER_BLOCK} logs, answer of the node to commit`)
  return printTable(PLACES, (place) => {
    const limit = place === 'sqlite' ? undefined : LIMITS[place].blockMs
    const ms = median(times[place])
    return { cells: { ms: ms.toFixed(1) }, limit, isMet: ms <= (limit ?? Infinity) }
  })
}

function printTable(
  places: readonly Place[],
  rowOf: (place: Place) => { cells: Record<string, unknown>; limit: number | undefined; isMet: boolean },
): boolean {
  const rows = places.map((place) => [place, rowOf(place)] as const)
  const lines = rows.map(([place, { cells, limit, isMet }]) => [
    NAMES[place],
    limit === undefined ? cells : { ...cells, limit, met: isMet },
  ])
  console.table(Object.fromEntries(lines))
  return rows.every(([, { isMet }]) => isMet)
}
