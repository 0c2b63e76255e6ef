import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { DAY_MS, parseAddress } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { listAudit, writeAudit } from '../store/auditStore.ts'
import { addClaim, removeClaim, renewClaim } from '../store/claimStore.ts'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { createRefusalAudit, eraseOldCallers } from './auditLog.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const TRADER = parseAddress(`0x${'1'.repeat(40)}`)!
const AGENT = parseAddress(`0x${'2'.repeat(40)}`)!

let opened: TestStore

beforeEach(async () => {
  opened = openTestStore()
  await migrate(opened.store)
})
afterEach(() => opened.remove())

const reasons = async (): Promise<unknown[]> =>
  (await listAudit(opened.store.read, { chain: 'base', trader: TRADER, cursor: undefined, limit: 100 })).map(
    ({ detail }) => detail?.reason,
  )

describe('refusals in the audit log', () => {
  it('are told once a day for each reason, however many there are', async () => {
    let nowMs = 10 * DAY_MS
    let transactions = 0
    const store = {
      transaction: <Result>(...of: Parameters<typeof opened.store.transaction<Result>>) => {
        transactions += 1
        return opened.store.transaction<Result>(...of)
      },
    }
    const audit = createRefusalAudit({ store, now: () => nowMs, onError: assert.ifError })
    const refuse = (reason: string): void => audit.note({ chain: 'base', trader: TRADER, agent: AGENT, reason })
    for (let i = 0; i < 1_000; i += 1) refuse('trader_budget')
    refuse('deployment_budget')
    nowMs += DAY_MS - 1
    refuse('trader_budget')
    assert.equal(transactions, 2)
    nowMs += 1
    refuse('trader_budget')
    await until('all are stored', async () => (await reasons()).length === 3)
    assert.deepEqual(await reasons(), ['trader_budget', 'deployment_budget', 'trader_budget'])
  })

  it('name the agent, the request and its caller', async () => {
    const origin = { callerIp: '203.0.113.7', requestId: 'abc' }
    const audit = createRefusalAudit({ store: opened.store, now: () => DAY_MS, onError: assert.ifError })
    audit.note({ chain: 'base', trader: TRADER, agent: AGENT, origin, reason: 'low_balance' })
    await until('it is stored', async () => (await reasons()).length === 1)
    const row = await opened.store.read.get<object>('select agent, caller_ip, request_id from audit_log')
    assert.deepEqual({ ...row }, { agent: AGENT, caller_ip: '203.0.113.7', request_id: 'abc' })
  })

  it('are told again after the store failed', async () => {
    const errors: unknown[] = []
    const store = { transaction: () => Promise.reject(new Error('no space')) }
    const transaction = { current: store.transaction as typeof opened.store.transaction }
    const audit = createRefusalAudit({
      store: { transaction: (...of) => transaction.current(...of) },
      now: () => DAY_MS,
      onError: (error) => errors.push(error),
    })
    audit.note({ chain: 'base', trader: TRADER, agent: AGENT, reason: 'trader_budget' })
    await until('it has failed', () => errors.length === 1)
    transaction.current = opened.store.transaction.bind(opened.store)
    audit.note({ chain: 'base', trader: TRADER, agent: AGENT, reason: 'trader_budget' })
    await until('it is stored', async () => (await reasons()).length === 1)
  })
})

describe("callers' addresses", () => {
  it('are erased after their days', async () => {
    const entry = { chain: 'base', kind: 'agent_added', trader: TRADER, callerIp: '203.0.113.7' } as const
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let i = 0; i < 600; i += 1) await writeAudit(sql, { ...entry, atMs: 1 })
      await writeAudit(sql, { ...entry, atMs: DAY_MS })
    })
    const close = eraseOldCallers({
      store: opened.store,
      keepDays: 90,
      now: () => 90 * DAY_MS + 2,
      onError: assert.ifError,
    })
    const kept = async (): Promise<bigint | undefined> =>
      (await opened.store.read.get<{ kept: bigint }>('select count(caller_ip) as kept from audit_log'))?.kept
    await until('only the young one is left', async () => (await kept()) === 1n)
    await close()
  })

  it('are erased of claims that are told later too, however often these are renewed', async () => {
    const untold = { callerIp: '203.0.113.7', requestId: 'r-1' }
    const claimOf = (label: string) => ({ chain: 'base', agent: '', trader: TRADER, label }) as const
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let i = 0; i < 600; i += 1) {
        await addClaim(sql, claimOf(`old ${i}`), { network: '203.0.113', sinceMs: 1, untold })
        await renewClaim(sql, claimOf(`old ${i}`), 2 * DAY_MS)
      }
      await addClaim(sql, claimOf('young'), { network: '203.0.113', sinceMs: DAY_MS, untold })
      await addClaim(sql, claimOf('told'), { network: '203.0.113', sinceMs: 1, untold: undefined })
    })
    const close = eraseOldCallers({
      store: opened.store,
      keepDays: 1,
      now: () => DAY_MS + 2,
      onError: assert.ifError,
    })
    const kept = async (): Promise<bigint | undefined> =>
      (await opened.store.read.get<{ kept: bigint }>('select count(caller_ip) as kept from claims'))?.kept
    await until('only the young one is left', async () => (await kept()) === 1n)
    await close()
    const origins = await opened.store.transaction(TEST_SCOPE, async (sql) => {
      const claims = []
      for (const label of ['old 0', 'young', 'told']) claims.push(await removeClaim(sql, claimOf(label)))
      return claims.map((claim) => claim?.untold)
    })
    assert.deepEqual(origins, [{ requestId: 'r-1' }, untold, undefined])
  })
})
