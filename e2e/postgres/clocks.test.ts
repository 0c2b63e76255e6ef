import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import type { Order } from '@bezel/protocol'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { runRound } from '../../packages/server/src/journal/clock.ts'
import { LIMIT_BODY } from '../../packages/server/src/orders/testing/ordersWorld.ts'
import type { AgentRecord } from '../../packages/server/src/trading/agentRecord.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import {
  create,
  freshAddress,
  freshNonce,
  openRaceNodes,
  RACE_CHAIN,
  registerEverywhere,
  writeOf,
  type RaceNode,
  type RaceNodes,
} from './races/raceNodes.ts'
import { storedProblems } from './storedProblems.ts'

/** Steps of the clocks, by default few. */
const STEPS = Number(process.env['CAMPAIGN'] ?? 30)
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** The furthest that a clock is from the true time. */
const MAX_STEP_MS = 60_000
/** Time that passes between two steps. */
const STEP_MS = 20_000
/** Requests that are sent at the same time. */
const AT_ONCE = 4
const TIMEOUT_BLOCKS = 200

describe('two services whose clocks are stepped', () => {
  let server: RunningPostgres
  let nodes: RaceNodes
  before(async () => {
    installPostgres()
    server = await startPostgres()
    nodes = await openRaceNodes(await server.createDatabase('clocks'), 2, (store) => store)
  })
  after(async () => {
    await nodes?.close()
    await server?.remove()
  })

  it(`let no order go backwards, and accept no nonce twice (SEED=${SEED})`, async () => {
    const random = createSeededRandom(SEED)
    const agent = await registerEverywhere(nodes, { agent: freshAddress(), trader: freshAddress() })
    let accepted = 0
    for (let step = 0; step < STEPS; step++) {
      for (const { world } of nodes.nodes) {
        const { market } = world.base
        market.nowMs = START_MS + step * STEP_MS + Math.floor((random.next() * 2 - 1) * MAX_STEP_MS)
        // The feed tells of the same price at any time.
        for (const [pair, quote] of market.quotes) market.quotes.set(pair, { ...quote, updatedAtMs: market.nowMs })
      }
      accepted += await sendTwice(nodes, agent, START_MS + step * STEP_MS)
      for (const node of nodes.nodes) await runRound(roundOf(node))
    }
    const { store } = nodes.nodes[1]
    assert.ok(accepted > 0, 'no order was accepted')
    const orders = await store.read.all('select id from orders where trader = $1', agent.trader)
    assert.equal(orders.length, accepted, 'each nonce made one order at most')
    assert.deepEqual(await backwards(nodes.nodes[1], agent.trader), [])
    assert.deepEqual(await storedProblems(store.read, TIMEOUT_BLOCKS), [])
  })
})

/** The true time at the beginning. */
const START_MS = 1_800_000_000_000

/** Sends each of some requests to both services. Returns the number of those that were accepted. */
async function sendTwice({ nodes }: RaceNodes, agent: AgentRecord, timestampMs: number): Promise<number> {
  const signed = Array.from({ length: AT_ONCE }, () => ({ nonce: freshNonce(), timestampMs }))
  const ends = await Promise.allSettled(
    signed.flatMap((request) => nodes.map((node) => create(node, writeOf(node, agent, request), LIMIT_BODY))),
  )
  for (const end of ends) {
    if (end.status === 'rejected') assert.equal((end.reason as { code?: string }).code, 'NONCE_REUSED', end.reason)
  }
  return ends.filter(({ status }) => status === 'fulfilled').length
}

function roundOf({ world, store }: RaceNode): Parameters<typeof runRound>[0] {
  const { accountLog, clock } = world.base.orders
  const onError = (error: unknown): never => {
    throw error
  }
  return { chain: RACE_CHAIN, store, accountLog, clock, onError }
}

/** Returns the places of a trader's log at which an order or the time goes backwards. */
async function backwards({ store }: RaceNode, trader: string): Promise<string[]> {
  const rows = await store.read.all<{ seq: bigint; timestamp: bigint; data: string }>(
    `select e.seq, e.timestamp, e.data from account_logs l join account_events e on e.log_id = l.id
     where l.trader = $1 order by e.seq`,
    trader,
  )
  const problems: string[] = []
  const statuses = new Map<string, Order['status']>()
  let lastMs = 0n
  for (const { seq, timestamp, data } of rows) {
    const { id, status } = JSON.parse(data) as Order
    const known = statuses.get(id)
    if (timestamp < lastMs) problems.push(`event ${seq} is of ${timestamp}, after ${lastMs}`)
    if (known !== undefined && !(known === 'prepared' && status === 'expired')) {
      problems.push(`order ${id} goes from ${known} to ${status} in event ${seq}`)
    }
    statuses.set(id, status)
    lastMs = timestamp
  }
  return problems
}
