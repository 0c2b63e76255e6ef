import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, PreparedOrder } from '@bezel/protocol'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { readServerConfig } from '../packages/server/src/settings/config.ts'
import { run as runService } from '../packages/server/src/run.ts'
import { openBenchAgent, type BenchAgent } from './client/benchAgent.ts'
import { median } from './measure/median.ts'
import { timed } from './measure/timed.ts'
import { openFloor, type Floor } from './prepare/floor.ts'
import { NO_LIMITS, QUIET_SERVICE } from './client/undisturbed.ts'

// Compares createOrder with its unavoidable parts: one round trip to the node, one durable commit, one recovery of a
// public key.
//
// Ours: signed requests of several agents over HTTP to the service in this process, with a real local chain as the
// node. Each is timed from the first byte sent to the last one received, one at a time. Peers: prepare/floor.ts, with
// the same node and disk. A round runs some of each one after the other, so that noise of the machine hits all of them.
// Printed are the medians.
// Round trips and commits are counted from the service's own metrics, while nothing else happens in it.

const AGENTS = 5
const ROUNDS = 10
/** Orders of each agent in a round, fewer than an agent may have prepared by default. */
const ORDERS_PER_ROUND = 10
/** Limits: an order takes exactly one round trip and one commit. */
const ROUND_TRIPS_LIMIT = 1
const COMMITS_LIMIT = 1
/** Aim: a prepared order may exceed the sum of its parts by this much. */
const AIM_MS = 2

const CHAIN = 'arbitrum-sepolia'
const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10', collateral: 'USDC' }
/** An interval longer than the benchmark, so that no block adds to the counts. */
const QUIET_CHAIN = { DEVNET_BLOCK_MS: '60000' }

interface Counts {
  readonly roundTrips: number
  readonly commits: number
}

/** Prints counts and times. Returns true when the counts are exact and the aim is reached. */
export async function run(): Promise<boolean> {
  const devnet = await startDevnet(QUIET_CHAIN)
  const service = await startService(devnet)
  const chain = createChainClient(devnet.file)
  const mining = setInterval(() => void chain.control('evm_mine').catch(() => undefined), 50)
  const agents: BenchAgent[] = []
  for (let n = 1; n <= AGENTS; n += 1) agents.push(await openBenchAgent({ devnet, chain, url: service.url }, n))
  clearInterval(mining)
  // Waits until the follower has processed the last of those blocks.
  await new Promise((soon) => setTimeout(soon, 500))

  const floor = await openFloorOf(devnet, agents[0]!)
  const counts = await count(service.url, agents)
  const times = await measure(agents, floor)
  await floor.close()
  for (const agent of agents) agent.close()
  await service.close()
  await devnet.stop()
  return print(counts, times)
}

async function startService(devnet: RunningDevnet): Promise<{ url: string; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const service = await runService(
    readServerConfig({
      PORT: '0',
      LOG_LEVEL: 'warn',
      BEZEL_DATA: folder,
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
      ...NO_LIMITS,
      ...QUIET_SERVICE,
    }),
  )
  while ((await fetch(`${service.url}/ready`)).status !== 200) await new Promise((soon) => setTimeout(soon, 20))
  const close = async (): Promise<void> => {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { url: service.url, close }
}

async function openFloorOf(devnet: RunningDevnet, agent: BenchAgent): Promise<Floor> {
  const { rpcUrl, chainId, diamond, collaterals } = devnet.file.chains[CHAIN]!
  const { prepared } = await prepare(agent)
  await withdraw(agent, [prepared])
  const collateral = collaterals.find(({ symbol }) => symbol === ORDER.collateral)!
  const { trader } = agent
  return openFloor({ rpcUrl, chainId, diamond: diamond as Address, collateral, trader, agent: agent.agent, prepared })
}

async function prepare(agent: BenchAgent): Promise<{ readonly prepared: PreparedOrder; readonly ms: number }> {
  const { ms, body } = await agent.ask({ operation: 'createOrder', method: 'POST', path: '/orders', body: ORDER })
  return { prepared: body as PreparedOrder, ms }
}

async function withdraw(agent: BenchAgent, orders: readonly PreparedOrder[]): Promise<void> {
  for (const { order } of orders) {
    await agent.ask({ operation: 'cancelOrder', method: 'DELETE', path: `/orders/${order.id}` })
  }
}

/**
 * Counts round trips and commits per order. Other work of the service can only add to them, so the least of three tries
 * counts.
 */
async function count(url: string, agents: readonly BenchAgent[]): Promise<Counts> {
  let least: Counts = { roundTrips: Infinity, commits: Infinity }
  for (let at = 0; at < 3; at += 1) {
    const before = await readCounts(url)
    const made: [BenchAgent, PreparedOrder][] = []
    for (const agent of agents) made.push([agent, (await prepare(agent)).prepared])
    const after = await readCounts(url)
    for (const [agent, order] of made) await withdraw(agent, [order])
    const per = (of: keyof Counts): number => (after[of] - before[of]) / agents.length
    least = {
      roundTrips: Math.min(least.roundTrips, per('roundTrips')),
      commits: Math.min(least.commits, per('commits')),
    }
  }
  return least
}

async function readCounts(url: string): Promise<Counts> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (line: RegExp): number => {
    const found = line.exec(text)?.[1]
    if (found === undefined) throw new Error(`the metrics have no ${line.source}`)
    return Number(found)
  }
  return {
    roundTrips: value(/^bezel_rpc_round_trips_total\{[^}]*\} (\d+)/m),
    commits: value(/^bezel_store_transactions_total\{outcome="committed"\} (\d+)/m),
  }
}

type Times = Record<'ours' | keyof Omit<Floor, 'close'>, number[]>

async function measure(agents: readonly BenchAgent[], floor: Floor): Promise<Times> {
  const times: Times = { ours: [], roundTrip: [], commit: [], recover: [] }
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const of: Times = { ours: [], roundTrip: [], commit: [], recover: [] }
    for (const agent of agents) {
      const made: PreparedOrder[] = []
      for (let at = 0; at < ORDERS_PER_ROUND; at += 1) {
        // The second request finds the node warm, so the two alternate in coming first.
        if (at % 2 === 0) of.roundTrip.push(await timed(floor.roundTrip))
        const { prepared, ms } = await prepare(agent)
        of.ours.push(ms)
        made.push(prepared)
        if (at % 2 === 1) of.roundTrip.push(await timed(floor.roundTrip))
        of.commit.push(await timed(floor.commit))
        of.recover.push(await timed(floor.recover))
      }
      await withdraw(agent, made)
    }
    if (round === 0) continue
    for (const name of Object.keys(times) as (keyof Times)[]) times[name].push(...of[name])
  }
  return times
}

function print({ roundTrips, commits }: Counts, times: Times): boolean {
  const of = (name: keyof Times): number => median(times[name])
  const sum = of('roundTrip') + of('commit') + of('recover')
  const difference = of('ours') - sum
  const isExact = roundTrips === ROUND_TRIPS_LIMIT && commits === COMMITS_LIMIT
  console.log(`createOrder over HTTP, ${times.ours.length} orders of ${AGENTS} agents, medians`)
  console.table({
    'round trips per order': { value: roundTrips, limit: ROUND_TRIPS_LIMIT, met: roundTrips === ROUND_TRIPS_LIMIT },
    'durable commits per order': { value: commits, limit: COMMITS_LIMIT, met: commits === COMMITS_LIMIT },
  })
  const ms = (value: number): string => value.toFixed(2)
  console.table({
    createOrder: { ms: ms(of('ours')) },
    'one round trip': { ms: ms(of('roundTrip')) },
    'one durable commit': { ms: ms(of('commit')) },
    'one recover': { ms: ms(of('recover')) },
    'these three': { ms: ms(sum) },
    'createOrder less these three': { ms: ms(difference), aim: AIM_MS, met: difference <= AIM_MS },
  })
  return isExact && difference <= AIM_MS
}
