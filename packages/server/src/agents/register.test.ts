import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, AgentScope } from '@bezel/protocol'
import { agentStatus, type AgentRecord } from '../trading/agentRecord.ts'
import { checkRegistration, MAX_AGENTS, refuseManyAgents } from './register.ts'

const NOW_MS = 1_700_000_000_000
const address = (digit: string): Address => `0x${digit.repeat(40)}` as Address
const SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

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

const later = { signedAtMs: NOW_MS + 1 }
const otherTrader = { trader: address('2') }

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
