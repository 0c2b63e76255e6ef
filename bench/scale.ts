import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zeroAddress } from 'viem'
import { createChainClient, P10, tradeOf, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { openBenchAgent, type AgentRequest, type BenchAgent } from './client/benchAgent.ts'
import { median } from './measure/median.ts'
import { fillStore, type Load } from './scale/fill.ts'

// Benchmarks a full store: latencies of a service over it beside those of a service over an almost empty one, in the
// same run.
//
// A trader opens positions and places orders with the service over the empty store. The data folder is then copied, and
// the copy filled with the data of other traders (scale/fill.ts), so that both services answer the same to that trader.
// Both run over the same local chain, each in a process of its own, and get requests alternately, one at a time.
// Printed are medians.

const LOAD: Load = { orders: 300_000, agents: 1_000_000, openPositions: 300_000 }
const RATIO_LIMIT = 1.5
const MEMORY_LIMIT_MB = 700
/** Time from the start of the process to its readiness. */
const READY_LIMIT_MS = 10_000
/** Delay of the event loop that 99 of 100 looks stay below, from its readiness to the end of the requests. */
const LOOP_LIMIT_MS = 50
const REQUESTS = 200
const WARM_UP_REQUESTS = 30

const POSITIONS = 10
const WITHDRAWN_ORDERS = 30
const OPEN_ORDERS = 10
const PRICE = 60_000n
const LIMIT_ORDER = {
  market: 'BTC/USD',
  side: 'long',
  type: 'limit',
  size: '0.01',
  leverage: '10',
  price: '50000',
  collateral: 'USDC',
}
const SETTINGS = {
  LOG_LEVEL: 'error',
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  // Longer than the benchmark runs, so that prepared orders do not expire.
  BEZEL_PREPARED_RESTING_MS: '3600000',
  BEZEL_PREPARED_MARKET_MS: '3600000',
}

interface Row {
  readonly name: string
  readonly empty: number
  readonly full: number
}

/** Prints ratios and memory. Returns true when all limits are met. */
export async function run(): Promise<boolean> {
  const devnet = await startDevnet()
  const chain = createChainClient(devnet.file)
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', String(PRICE))
  const folders = { empty: newFolder(), full: newFolder() }

  const first = await startOver(devnet, folders.empty)
  const trading = await openBenchAgent({ devnet, chain, url: first.url }, 1)
  const { orderId } = await tradeSome(chain, trading)
  trading.close()
  await first.stop()
  cpSync(folders.empty, folders.full, { recursive: true })
  await fillStore(folders.full, trading, LOAD)

  const empty = await startOver(devnet, folders.empty)
  const startedMs = performance.now()
  const full = await startOver(devnet, folders.full)
  const readyMs = performance.now() - startedMs
  // Each look at the numbers begins a new span of the delays.
  await numbersOf(full)
  const agents = {
    empty: await openBenchAgent({ devnet, chain, url: empty.url }, 1),
    full: await openBenchAgent({ devnet, chain, url: full.url }, 1),
  }
  const rows: Row[] = []
  for (const [name, request] of Object.entries(reads(trading, orderId))) rows.push(await compare(name, request, agents))
  rows.push(await compareCreates(agents))
  const numbers = { empty: await numbersOf(empty), full: await numbersOf(full) }

  agents.empty.close()
  agents.full.close()
  await empty.stop()
  await full.stop()
  await devnet.stop()
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true })
  return print(rows, [
    { name: 'memory, MB', full: numbers.full.memoryMb, limit: MEMORY_LIMIT_MB },
    { name: 'ready after, ms', full: readyMs, limit: READY_LIMIT_MS },
    { name: 'event loop p99, ms', full: numbers.full.loopP99Ms, limit: LOOP_LIMIT_MS },
  ])
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'bezel-bench-'))
}

function startOver(devnet: RunningDevnet, folder: string): Promise<RunningService> {
  const files = { BEZEL_DATA: folder, BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json') }
  return startService(devnet, { ...SETTINGS, ...files })
}

/**
 * Creates the trader's data in both stores: positions, some of them closed again, and orders, some of them withdrawn.
 */
async function tradeSome(chain: ChainClient, agent: BenchAgent): Promise<{ readonly orderId: string }> {
  const trader = chain.account('trader-1')
  for (let at = 0; at < POSITIONS; at += 1) {
    const trade = tradeOf(chain, trader.address, { price: PRICE, long: at % 2 === 0 })
    await chain.send(trader, 'openTrade', [trade, 5_000, zeroAddress])
  }
  await until(agent, POSITIONS)
  for (let index = 0; index < POSITIONS / 2; index += 1) {
    await chain.send(trader, 'closeTradeMarket', [index, PRICE * P10])
  }
  await until(agent, POSITIONS / 2)
  let orderId = ''
  for (let at = 0; at < WITHDRAWN_ORDERS + OPEN_ORDERS; at += 1) {
    orderId = await create(agent)
    if (at < WITHDRAWN_ORDERS) await withdraw(agent, orderId)
  }
  return { orderId }
}

async function until(agent: BenchAgent, positions: number): Promise<void> {
  const read = readOf(agent, 'listPositions', '/positions')
  for (;;) {
    if ((await agent.ask(read)).body.data.length === positions) return
    await new Promise((soon) => setTimeout(soon, 50))
  }
}

async function create(agent: BenchAgent): Promise<string> {
  return (await agent.ask(CREATE)).body.order.id as string
}

async function withdraw(agent: BenchAgent, id: string): Promise<void> {
  await agent.ask({ operation: 'cancelOrder', method: 'DELETE', path: `/orders/${id}` })
}

const CREATE: AgentRequest = { operation: 'createOrder', method: 'POST', path: '/orders', body: LIMIT_ORDER }

function readOf({ trader }: BenchAgent, operation: AgentRequest['operation'], path: string): AgentRequest {
  return { operation, method: 'GET', path: `/account/${trader}${path}` }
}

function reads(agent: BenchAgent, orderId: string): Record<string, AgentRequest> {
  return {
    getOrder: { operation: 'getOrder', method: 'GET', path: `/orders/${orderId}` },
    listOpenOrders: readOf(agent, 'listOpenOrders', '/orders'),
    listOrderHistory: readOf(agent, 'listOrderHistory', '/orders/history'),
    listPositions: readOf(agent, 'listPositions', '/positions'),
    listFills: readOf(agent, 'listFills', '/fills'),
    getAccount: readOf(agent, 'getAccount', ''),
  }
}

type Agents = Readonly<Record<'empty' | 'full', BenchAgent>>

async function compare(name: string, request: AgentRequest, agents: Agents): Promise<Row> {
  return inTurn(name, async (of) => (await agents[of].ask(request)).ms)
}

async function compareCreates(agents: Agents): Promise<Row> {
  return inTurn('createOrder', async (of) => {
    const { ms, body } = await agents[of].ask(CREATE)
    await withdraw(agents[of], body.order.id as string)
    return ms
  })
}

async function inTurn(name: string, ask: (of: keyof Agents) => Promise<number>): Promise<Row> {
  const times: Record<keyof Agents, number[]> = { empty: [], full: [] }
  for (let at = 0; at < WARM_UP_REQUESTS + REQUESTS; at += 1) {
    for (const side of ['empty', 'full'] as const) {
      const ms = await ask(side)
      if (at >= WARM_UP_REQUESTS) times[side].push(ms)
    }
  }
  return { name, empty: median(times.empty), full: median(times.full) }
}

/** Numbers of a process, as its metrics tell them. */
interface ProcessNumbers {
  readonly memoryMb: number
  readonly loopP99Ms: number
}

async function numbersOf({ url }: RunningService): Promise<ProcessNumbers> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const numberOf = (series: string): number => {
    const value = new RegExp(`^${series} (\\S+)`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`the metrics have no ${series}`)
    return Number(value)
  }
  return {
    memoryMb: numberOf('process_resident_memory_bytes') / 1e6,
    loopP99Ms: numberOf('nodejs_eventloop_lag_p99_seconds') * 1e3,
  }
}

/** A number of the service over the full store, and the greatest allowed. */
interface Figure {
  readonly name: string
  readonly full: number
  readonly limit: number
}

function print(rows: readonly Row[], figures: readonly Figure[]): boolean {
  const { orders, agents, openPositions } = LOAD
  console.log(
    `Latency, ms, over ${orders} orders, ${agents} agents, ${openPositions} open positions; medians of ${REQUESTS}`,
  )
  const isMet = ({ empty, full }: Row): boolean => full / empty <= RATIO_LIMIT
  console.table(
    Object.fromEntries(
      rows.map((row) => [
        row.name,
        {
          full: row.full.toFixed(2),
          empty: row.empty.toFixed(2),
          ratio: (row.full / row.empty).toFixed(2),
          limit: RATIO_LIMIT,
          met: isMet(row),
        },
      ]),
    ),
  )
  const isWithin = ({ full, limit }: Figure): boolean => full <= limit
  console.table(
    Object.fromEntries(
      figures.map((figure) => [
        figure.name,
        { full: Math.round(figure.full), limit: figure.limit, met: isWithin(figure) },
      ]),
    ),
  )
  return rows.every(isMet) && figures.every(isWithin)
}
