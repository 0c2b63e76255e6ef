import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import { listAudit } from '../store/auditStore.ts'
import { listNotices } from '../store/noticeStore.ts'
import { migrate } from '../store/openStore.ts'
import type { Sql } from '../store/sql.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { openRegistry, type Registry } from './registry.ts'
import { registerAgent } from './registerAgent.ts'
import { tellAgentEnded, tellAgentRegistered } from './rightsLog.ts'
import { addressOf } from './testing/sampleAgent.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const at = (n: number): Address => parseAddress(`0x${n.toString(16).padStart(40, '0')}`)!

const [TRADER, OTHER, AGENT] = [at(1), at(2), at(3)]

const NOW_MS = Date.UTC(2026, 10, 15)

const CAUSE = { nowMs: NOW_MS, callerIp: '203.0.113.7', requestId: 'r-1' }

const CLAIM: AgentRecord = {
  chain: 'base',
  agent: AGENT,
  trader: TRADER,
  name: 'secret plan',
  scope: { markets: 'all', maxLeverage: '10', dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
  mode: 'self',
  agentSigned: false,
  revoked: false,
  standing: 'claimed',
  createdAtMs: NOW_MS,
  signedAtMs: NOW_MS,
}

const USED: AgentRecord = { ...CLAIM, standing: 'used' }

describe('the log of rights', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const tell = (work: (sql: Sql) => Promise<unknown>): Promise<unknown> => opened.store.transaction(TEST_SCOPE, work)

  const kinds = async (trader = TRADER): Promise<string[]> =>
    (await listAudit(opened.store.read, { chain: 'base', trader, cursor: undefined, limit: 100 })).map(
      ({ kind }) => kind,
    )

  const notices = (trader = TRADER) => listNotices(opened.store.read, trader, { nowMs: NOW_MS, limit: 100 })

  const rows = async (table: string): Promise<number> =>
    Number((await opened.store.read.get<{ count: bigint }>(`select count(*) as count from ${table}`))?.count)

  const register = (registry: Registry, record: AgentRecord): Promise<AgentRecord> => {
    const parts = { registry, relayer: null, delegates: { look: async () => addressOf('0') } }
    return registerAgent(parts, { record, network: '203.0.113', cause: CAUSE })
  }

  it('tells of a new agent with its scope, and by a notice that does not give its name away', async () => {
    await tell((sql) => tellAgentRegistered(sql, { stored: undefined, next: USED }, CAUSE))
    const [entry] = await listAudit(opened.store.read, { chain: 'base', trader: TRADER, cursor: undefined, limit: 1 })
    assert.deepEqual(
      [entry?.kind, entry?.agent, entry?.requestId, entry?.createdAt],
      ['agent_added', AGENT, 'r-1', NOW_MS],
    )
    assert.deepEqual(entry?.detail, { name: 'secret plan', mode: 'self', scope: CLAIM.scope })
    const [notice] = await notices()
    assert.deepEqual(
      [notice?.type, notice?.severity, notice?.link],
      ['agent_added', 'info', `/v1/base/agents/${AGENT}`],
    )
    assert.ok(!JSON.stringify(notice).includes('secret plan'))
  })

  it('counts the markets of a long list', async () => {
    const markets = Array.from({ length: 64 }, (_, i) => `M${i}/USD`)
    const next = { ...USED, scope: { ...CLAIM.scope, markets } }
    await tell((sql) => tellAgentRegistered(sql, { stored: undefined, next }, CAUSE))
    const [entry] = await listAudit(opened.store.read, { chain: 'base', trader: TRADER, cursor: undefined, limit: 1 })
    assert.deepEqual(entry?.detail?.scope, { ...CLAIM.scope, markets: 64 })
  })

  it('tells apart a change, a move to another trader, an end and a return', async () => {
    const revoked = { ...USED, revoked: true }
    await tell(async (sql) => {
      await tellAgentRegistered(sql, { stored: undefined, next: USED }, CAUSE)
      await tellAgentRegistered(sql, { stored: USED, next: USED }, CAUSE)
      await tellAgentEnded(sql, 'agent_revoked', revoked, CAUSE)
      await tellAgentRegistered(sql, { stored: revoked, next: USED }, CAUSE)
      await tellAgentEnded(sql, 'agent_replaced', USED, CAUSE)
      await tellAgentRegistered(sql, { stored: USED, next: { ...CLAIM, trader: OTHER } }, CAUSE)
    })
    assert.deepEqual((await kinds()).toReversed(), [
      'agent_added',
      'agent_changed',
      'agent_revoked',
      'agent_added',
      'agent_replaced',
      'agent_moved_away',
    ])
    assert.deepEqual(await kinds(OTHER), [])
  })

  it('says nothing of a claim until it is proven, and then tells of it with the request that made it', async () => {
    const registry = await openRegistry(opened.store, { now: () => NOW_MS + 5_000 })
    const record = await register(registry, CLAIM)
    assert.deepEqual([await kinds(), await notices()], [[], []])
    await registry.noteStanding(record, 'delegated')
    const [entry] = await listAudit(opened.store.read, { chain: 'base', trader: TRADER, cursor: undefined, limit: 9 })
    assert.deepEqual([entry?.kind, entry?.requestId, entry?.createdAt], ['agent_added', 'r-1', NOW_MS])
    assert.equal((await notices())[0]?.type, 'agent_added')
    await registry.noteStanding({ ...record, standing: 'delegated' }, 'used')
    assert.deepEqual(await kinds(), ['agent_added'])
  })

  it('tells a trader who has a proven agent of every further one at once', async () => {
    const registry = await openRegistry(opened.store, { now: () => NOW_MS })
    await registry.noteStanding(await register(registry, CLAIM), 'delegated')
    const second = await register(registry, { ...CLAIM, agent: at(4) })
    assert.deepEqual([await kinds(), (await notices()).length], [['agent_added', 'agent_added'], 2])
    // Anybody may read notices, and could take an agent that is not in force yet.
    const [notice] = await notices()
    assert.ok(!JSON.stringify(notice).includes(at(4)), JSON.stringify(notice))
    assert.equal(notice?.link, `/v1/base/account/${TRADER}/audit`)
    await register(registry, { ...CLAIM, agent: at(4), signedAtMs: NOW_MS + 1 })
    assert.deepEqual(await kinds(), ['agent_changed', 'agent_added', 'agent_added'])
    await registry.noteStanding(second, 'delegated')
    assert.equal((await kinds()).length, 3)
  })

  it('withdraws the notice about an agent that goes without having been proven', async () => {
    const registry = await openRegistry(opened.store, { now: () => NOW_MS, maxClaims: 1 })
    await registry.noteStanding(await register(registry, CLAIM), 'delegated')
    await register(registry, { ...CLAIM, agent: at(4) })
    const [first] = await notices()
    await register(registry, { ...CLAIM, agent: at(5) })
    const left = await notices()
    assert.deepEqual(
      left.map(({ link }) => link),
      [`/v1/base/account/${TRADER}/audit`, `/v1/base/agents/${AGENT}`],
    )
    assert.ok(left.every(({ id }) => id !== first?.id))
  })

  it('holds nothing of strangers, however often and by whomever a claim is made', async () => {
    const registry = await openRegistry(opened.store, { now: () => NOW_MS, maxClaims: 5 })
    for (let i = 0; i < 40; i += 1) {
      await registry.addKey({
        chain: 'base',
        trader: at(1_000 + i),
        label: 'bot',
        keyHash: String(i),
        createdAtMs: NOW_MS,
        signedAtMs: NOW_MS,
        network: `203.0.${i % 3}`,
      })
      const [agent, trader] = [at(10_000 + (i % 8)), at(2_000 + (i % 8))]
      await register(registry, { ...CLAIM, agent, trader, signedAtMs: NOW_MS + i })
    }
    assert.deepEqual([await rows('audit_log'), await rows('notices'), await rows('claims')], [0, 0, 5])
  })

  it('tells of keys once their trader is known: issued, replaced, ended', async () => {
    const registry = await openRegistry(opened.store, { now: () => NOW_MS })
    const key = { chain: 'base', trader: TRADER, label: 'bot', createdAtMs: NOW_MS, network: '203.0.113' } as const
    await registry.addKey({ ...key, keyHash: 'aa', signedAtMs: NOW_MS, origin: CAUSE })
    assert.deepEqual([await kinds(), await notices()], [[], []])
    await registry.noteStanding(await register(registry, CLAIM), 'delegated')
    assert.equal(await registry.keyOwner('base', 'aa'), TRADER)
    await registry.noteKeyUse('base', 'aa')
    const [issued] = await listAudit(opened.store.read, { chain: 'base', trader: TRADER, cursor: undefined, limit: 1 })
    assert.deepEqual([issued?.kind, issued?.requestId, issued?.createdAt], ['key_issued', 'r-1', NOW_MS])
    await registry.addKey({ ...key, keyHash: 'bb', signedAtMs: NOW_MS + 1 })
    assert.equal((await notices())[0]?.type, 'key_issued')
    assert.ok(await registry.endKey(key, async () => undefined, CAUSE))
    assert.deepEqual((await kinds()).toReversed(), ['agent_added', 'key_issued', 'key_replaced', 'key_ended'])
    assert.deepEqual(
      (await notices()).map(({ type }) => type),
      ['agent_added'],
    )
  })

  it('says nothing of a change that failed', async () => {
    const failed = opened.store.transaction(TEST_SCOPE, async (sql) => {
      await tellAgentRegistered(sql, { stored: undefined, next: USED }, CAUSE)
      throw new Error('no')
    })
    await assert.rejects(failed)
    assert.deepEqual([await kinds(), await notices()], [[], []])
  })
})
