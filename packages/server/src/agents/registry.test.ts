import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address, AgentScope } from '@bezel/protocol'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { type AgentRecord, agentStatus } from '../trading/agentRecord.ts'
import { createApiKey, hashApiKey } from './apiKey.ts'
import { openRegistry, checkRegistration, MAX_AGENTS, refuseManyAgents } from './registry.ts'

const NOW_MS = 1_700_000_000_000

const address = (digit: string): Address => `0x${digit.repeat(40)}` as Address

const SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

const later = { signedAtMs: NOW_MS + 1 }

const otherTrader = { trader: address('2') }

const TRADER = `0x${'1'.repeat(40)}` as Address

const AGENT = `0x${'a'.repeat(40)}` as Address

const RECORD: AgentRecord = {
  chain: 'base',
  agent: AGENT,
  trader: TRADER,
  name: 'bot "1"',
  scope: { markets: ['BTC/USD'], maxLeverage: '5', dailySpendCapUsd: null, expiresAt: 7, permissions: 'trade' },
  mode: 'self',
  agentSigned: true,
  revoked: false,
  createdAtMs: 1,
  signedAtMs: 2,
}

const key = (keyHash: string, signedAtMs: number, label = 'desk') =>
  ({ chain: 'base', trader: TRADER, label, keyHash, createdAtMs: 1, signedAtMs }) as const

describe('the registry', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  it('has an agent as it was registered, on its chain only, and after a restart', async () => {
    await (await openRegistry(opened.store)).changeAgent('base', AGENT, () => RECORD)
    const registry = await openRegistry(await opened.reopen())
    assert.deepEqual(registry.agent('base', AGENT), RECORD)
    assert.deepEqual(registry.agentsOf('base', TRADER), [RECORD])
    assert.equal(registry.agent('polygon', AGENT), undefined)
  })

  it('has an agent with its new trader alone when it serves another one', async () => {
    const registry = await openRegistry(opened.store)
    await registry.changeAgent('base', AGENT, () => RECORD)
    const moved = await registry.changeAgent('base', AGENT, (stored) => ({ ...stored!, trader: AGENT }))
    assert.deepEqual(registry.agentsOf('base', TRADER), [])
    assert.deepEqual(registry.agentsOf('base', AGENT), [moved])
  })

  it('tells of every trader whose agents have changed, once that is durable', async () => {
    const registry = await openRegistry(opened.store)
    const changed: string[] = []
    const stop = registry.onAgentChange(({ chain, trader }) => {
      assert.equal(registry.agentsOf(chain, trader).length, changed.length === 1 ? 0 : 1)
      changed.push(`${chain} ${trader}`)
    })
    await registry.changeAgent('base', AGENT, () => RECORD)
    await registry.changeAgent('base', AGENT, (stored) => ({ ...stored!, trader: AGENT }))
    await assert.rejects(registry.changeAgent('base', AGENT, () => assert.fail('refused')))
    assert.deepEqual(changed, [`base ${TRADER}`, `base ${TRADER}`, `base ${AGENT}`])
    stop()
    await registry.changeAgent('base', AGENT, () => RECORD)
    assert.equal(changed.length, 3)
  })

  it('has agents of the same moment in the same order after a restart', async () => {
    const registry = await openRegistry(opened.store)
    const others = ['c', 'b', 'd'].map((digit) => `0x${digit.repeat(40)}` as Address)
    for (const agent of others) await registry.changeAgent('base', agent, () => ({ ...RECORD, agent }))
    const again = await openRegistry(await opened.reopen())
    assert.deepEqual(again.agentsOf('base', TRADER), registry.agentsOf('base', TRADER))
  })

  it('changes nothing, in memory or on disk, when a change is refused', async () => {
    const registry = await openRegistry(opened.store)
    await registry.changeAgent('base', AGENT, () => RECORD)
    const refuse = () => {
      throw new Error('refused')
    }
    await assert.rejects(registry.changeAgent('base', AGENT, refuse), /refused/)
    assert.deepEqual(registry.agent('base', AGENT), RECORD)
    assert.deepEqual((await openRegistry(opened.store)).agent('base', AGENT), RECORD)
  })

  it('lets changes at the same time see each other', async () => {
    const registry = await openRegistry(opened.store)
    await registry.changeAgent('base', AGENT, () => RECORD)
    const bump = (stored: AgentRecord | undefined) => ({ ...stored!, signedAtMs: stored!.signedAtMs + 1 })
    await Promise.all(Array.from({ length: 10 }, () => registry.changeAgent('base', AGENT, bump)))
    assert.equal(registry.agent('base', AGENT)?.signedAtMs, 12)
  })

  it('replaces a key by its label, refuses a replay, and keeps only hashes', async () => {
    const registry = await openRegistry(opened.store)
    await registry.addKey(key('h1', 5))
    await registry.addKey(key('h2', 6))
    await registry.addKey(key('h3', 7, 'other'))
    assert.equal(registry.keyOwner('base', 'h1'), undefined)
    await assert.rejects(registry.addKey(key('h4', 7)), { code: 'NONCE_REUSED' })
    const again = await openRegistry(await opened.reopen())
    assert.deepEqual(
      ['h1', 'h2', 'h3', 'h4'].map((hash) => again.keyOwner('base', hash)),
      [undefined, TRADER, TRADER, undefined],
    )
  })
})

describe('API keys', () => {
  it('are 32 random bytes behind bz_, and hash the same every time', () => {
    const made = createApiKey()
    assert.match(made, /^bz_[A-Za-z0-9_-]{43}$/)
    assert.notEqual(made, createApiKey())
    assert.equal(hashApiKey(made), hashApiKey(made))
    for (const wrong of ['', 'bz_', `${made}x`, made.slice(0, -1), made.replace('bz_', 'gk_')]) {
      assert.equal(hashApiKey(wrong), undefined)
    }
  })
})

describe('checkRegistration', () => {
  const allowed = (stored: AgentRecord | undefined, next: AgentRecord) =>
    assert.doesNotThrow(() => checkRegistration(stored, next, NOW_MS))
  const refused = (stored: AgentRecord, next: AgentRecord, code: string) =>
    assert.throws(() => checkRegistration(stored, next, NOW_MS), { code })

  it('lets a trader change its mind, but only forward in time', () => {
    allowed(undefined, record())
    allowed(record(), record(later))
    refused(record(), record(), 'NONCE_REUSED')
    refused(record(later), record(), 'NONCE_REUSED')
  })

  it('keeps an agent with its trader against claims without its signature', () => {
    refused(record(), record({ ...otherTrader, ...later }), 'TRADER_MISMATCH')
    refused(record({ agentSigned: true }), record({ ...otherTrader, ...later }), 'TRADER_MISMATCH')
  })

  it('gives it to whom the agent itself signs for, even when a stranger dated his claim ahead', () => {
    const signed = { ...otherTrader, agentSigned: true }
    allowed(record(), record({ ...signed, ...later }))
    allowed(record(later), record(signed))
    allowed(record({ agentSigned: true }), record({ ...signed, ...later }))
    refused(record({ agentSigned: true, ...later }), record(signed), 'NONCE_REUSED')
  })

  it('frees it when it is revoked or expired', () => {
    allowed(record({ revoked: true }), record({ ...otherTrader, ...later }))
    allowed(record({ scope: { ...SCOPE, expiresAt: NOW_MS } }), record({ ...otherTrader, ...later }))
  })

  it('keeps it, also revoked or expired, where the agent itself had signed', () => {
    const claim = record({ ...otherTrader, ...later })
    refused(record({ agentSigned: true, revoked: true }), claim, 'TRADER_MISMATCH')
    refused(record({ agentSigned: true, scope: { ...SCOPE, expiresAt: NOW_MS } }), claim, 'TRADER_MISMATCH')
  })
})

describe('agentStatus', () => {
  const expired = { scope: { ...SCOPE, expiresAt: NOW_MS } }

  it('is revoked before expired, expired before what the chain says', () => {
    assert.equal(agentStatus(record({ revoked: true, ...expired }), true, NOW_MS), 'revoked')
    assert.equal(agentStatus(record(expired), true, NOW_MS), 'expired')
    assert.equal(agentStatus(record({ scope: { ...SCOPE, expiresAt: NOW_MS + 1 } }), true, NOW_MS), 'active')
    assert.equal(agentStatus(record(), false, NOW_MS), 'pending_delegation')
  })
})

describe('refuseManyAgents', () => {
  const agents = Array.from({ length: MAX_AGENTS }, (_, at) =>
    record({ agent: `0x${at.toString(16).padStart(40, '0')}` as Address }),
  )
  const refuse = (stored: readonly AgentRecord[], next: AgentRecord) => () =>
    refuseManyAgents({ agentsOf: () => [...stored] }, next, NOW_MS)

  it('lets a trader have so many agents in force, and no more', () => {
    assert.doesNotThrow(refuse(agents.slice(1), record()))
    assert.throws(refuse(agents, record()), { code: 'UNSUPPORTED', details: { limit: MAX_AGENTS } })
  })

  it('counts neither the agent itself nor what is over', () => {
    assert.doesNotThrow(refuse(agents, agents[3]!))
    assert.doesNotThrow(refuse([...agents.slice(1), record({ agent: address('b'), revoked: true })], record()))
    const expired = record({ agent: address('b'), scope: { ...SCOPE, expiresAt: NOW_MS } })
    assert.doesNotThrow(refuse([...agents.slice(1), expired], record()))
  })
})

function record(of: Partial<AgentRecord> = {}): AgentRecord {
  return {
    chain: 'base',
    agent: address('a'),
    trader: address('1'),
    name: '',
    scope: SCOPE,
    mode: 'self',
    agentSigned: false,
    revoked: false,
    createdAtMs: NOW_MS,
    signedAtMs: NOW_MS,
    ...of,
  }
}
