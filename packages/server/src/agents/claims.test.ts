import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { holdAgent, saveAgent } from '../store/agentStore.ts'
import { addClaim, removeClaim } from '../store/claimStore.ts'
import { migrate } from '../store/openStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import { ON_POSTGRES, openTestStore } from '../store/testing/testStore.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { holdClaim } from './claims.ts'
import { claimOf } from './proofs.ts'
import { countClaims } from './testing/countClaims.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'

const NOW_MS = 1_700_000_000_000
const CROWDED = '10.0.0.0/24'
const OTHER = '10.0.1.0/24'
const NETWORK = '10.0.2.0/24'
const MAX_CLAIMS = 3

/** Stores claims of three agents, the oldest first, two of one network and one of another. */
async function storeClaims(store: Store): Promise<readonly [AgentRecord, AgentRecord, AgentRecord]> {
  const [first, second, other] = [
    sampleAgent(),
    sampleAgent({ agent: addressOf('b') }),
    sampleAgent({ agent: addressOf('c') }),
  ]
  await store.transaction(TEST_SCOPE, async (sql) => {
    for (const [at, agent] of [first, second, other].entries()) {
      await saveAgent(sql, agent)
      const network = agent === other ? OTHER : CROWDED
      await addClaim(sql, claimOf(agent), { network, sinceMs: NOW_MS + at, untold: undefined })
    }
  })
  return [first, second, other]
}

/** Holds the claim of one more agent, where `MAX_CLAIMS` have room. Returns the agents that had to go. */
async function claimNext(store: Store, letter: string): Promise<unknown[]> {
  const next = claimOf({ chain: 'arbitrum-sepolia', agent: addressOf(letter) })
  const of = { network: NETWORK, nowMs: NOW_MS + 10, maxClaims: MAX_CLAIMS, untold: undefined }
  const gone = await store.transaction({ chain: next.chain }, (sql) => holdClaim(sql, next, of))
  return gone.map((record) => 'agent' in record && record.agent)
}

/** Has agents in use in another transaction during `work`, and does `end` in it afterwards. */
async function whileInUse<Result>(
  store: Store,
  agents: readonly AgentRecord[],
  work: () => Promise<Result>,
  end: (sql: Sql) => Promise<unknown> = async () => undefined,
): Promise<Result> {
  const held = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const use = store.transaction({ chain: agents[0]!.chain }, async (sql) => {
    for (const { chain, agent } of agents) await holdAgent(sql, chain, agent)
    held.resolve()
    await isOver.promise
    await end(sql)
  })
  await held.promise
  const result = await work().finally(isOver.resolve)
  await use
  return result
}

describe('a full table of claims', ON_POSTGRES, () => {
  let opened: ReturnType<typeof openTestStore>
  let agents: readonly [AgentRecord, AgentRecord, AgentRecord]
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    agents = await storeClaims(opened.store)
  })
  afterEach(() => opened.remove())

  it('loses one that no other transaction proves, and nobody waits for anybody', async () => {
    const { store } = opened
    const [first, second] = agents
    const prove = async (sql: Sql): Promise<void> => assert.ok(await removeClaim(sql, claimOf(first)))
    const gone = await whileInUse(store, [first], () => claimNext(store, 'd'), prove)
    assert.deepEqual(gone, [second.agent])
    assert.equal(await countClaims(store.read), 2)
  })

  it('loses one of another network when all of the one that holds the most are in use', async () => {
    const { store } = opened
    const [first, second, other] = agents
    assert.deepEqual(await whileInUse(store, [first, second], () => claimNext(store, 'd')), [other.agent])
    assert.equal(await countClaims(store.read), MAX_CLAIMS)
  })

  it('takes one more while all are in use, for which the next makes room', async () => {
    const { store } = opened
    assert.deepEqual(await whileInUse(store, agents, () => claimNext(store, 'd')), [])
    assert.equal(await countClaims(store.read), MAX_CLAIMS + 1)
    assert.deepEqual(await claimNext(store, 'e'), [agents[0].agent, agents[1].agent])
    assert.equal(await countClaims(store.read), MAX_CLAIMS)
  })
})
