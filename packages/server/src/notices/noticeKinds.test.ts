import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { agentNotice, pauseNotice } from './chainNotices.ts'
import { delegationNotice, delegationNoticeKeys, judgeDelegation } from './delegationWatch.ts'

const HOUR_MS = 3_600_000

const DAY_MS = 24 * HOUR_MS

const NOW_MS = Date.UTC(2026, 10, 15)

const at = (digit: string): Address => parseAddress(`0x${digit.repeat(40)}`)!

const [TRADER, AGENT, OTHER, STRANGER, NOBODY] = [at('1'), at('2'), at('3'), at('4'), at('0')]

function anAgent(expiresAt: number | null, changes: Partial<AgentRecord> = {}): AgentRecord {
  return {
    chain: 'base',
    agent: AGENT,
    trader: TRADER,
    name: 'secret plan',
    scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt, permissions: 'trade' },
    mode: 'self',
    agentSigned: true,
    revoked: false,
    standing: 'used',
    createdAtMs: 1,
    signedAtMs: 1,
    ...changes,
  }
}

describe('what is told of an agent', () => {
  const typeIn = (ms: number, changes: Partial<AgentRecord> = {}) =>
    agentNotice(anAgent(NOW_MS + ms, changes), NOW_MS)?.key.type

  it('is that it expires, from a day before to the moment', () => {
    assert.deepEqual(
      [DAY_MS + 1, DAY_MS, 1].map((ms) => typeIn(ms)),
      [undefined, 'agent_expiring', 'agent_expiring'],
    )
    const notice = agentNotice(anAgent(NOW_MS + HOUR_MS), NOW_MS)!
    assert.equal(notice.expiresAtMs, NOW_MS + HOUR_MS)
    assert.deepEqual([notice.content.severity, notice.content.link], ['warning', `/v1/base/agents/${AGENT}`])
    assert.match(notice.content.message, /expires at 2026-11-15T01:00:00\.000Z/)
  })

  it('is that it expired, for a week', () => {
    assert.deepEqual(
      [0, -HOUR_MS, -7 * DAY_MS + 1, -7 * DAY_MS].map((ms) => typeIn(ms)),
      ['agent_expired', 'agent_expired', 'agent_expired', undefined],
    )
  })

  it('is nothing of one without an expiry, or that was revoked', () => {
    assert.equal(agentNotice(anAgent(null), NOW_MS), undefined)
    assert.equal(typeIn(1, { revoked: true }), undefined)
    assert.equal(typeIn(-1, { revoked: true }), undefined)
  })

  it('is something new with a new expiry', () => {
    const subject = (ms: number) => agentNotice(anAgent(NOW_MS + ms), NOW_MS)!.key.subject
    assert.notEqual(subject(1), subject(2))
  })

  it('does not give its name away: anybody may read it', () => {
    for (const ms of [1, -1]) {
      assert.ok(!JSON.stringify(agentNotice(anAgent(NOW_MS + ms), NOW_MS)).includes('secret plan'))
    }
  })
})

describe('what a look at a delegate means', () => {
  const agents = new Map([
    [AGENT, anAgent(null)],
    [OTHER, anAgent(null, { agent: OTHER })],
  ])
  const judge = (before: Address | undefined, delegate: Address) =>
    judgeDelegation({ before, delegate, agentOf: (agent) => agents.get(agent) })
  const none = { seen: undefined, lost: undefined, gained: undefined }

  it('is nothing where no agent was or is the delegate', () => {
    assert.deepEqual(judge(undefined, NOBODY), none)
    assert.deepEqual(judge(undefined, STRANGER), none)
  })

  it('is remembered where an agent is', () => {
    assert.deepEqual(judge(undefined, AGENT), { seen: AGENT, lost: undefined, gained: AGENT })
    assert.deepEqual(judge(AGENT, AGENT), { seen: AGENT, lost: undefined, gained: undefined })
  })

  it('is a loss where an agent was', () => {
    assert.deepEqual(judge(AGENT, NOBODY), { ...none, lost: AGENT })
    assert.deepEqual(judge(AGENT, STRANGER), { ...none, lost: AGENT })
    assert.deepEqual(judge(AGENT, OTHER), { seen: OTHER, lost: AGENT, gained: OTHER })
  })

  it('is no loss of one that its trader revoked here', () => {
    const revoked = { agentOf: () => anAgent(null, { revoked: true }) }
    assert.deepEqual(judgeDelegation({ before: AGENT, delegate: NOBODY, ...revoked }), none)
    assert.deepEqual(judgeDelegation({ before: AGENT, delegate: AGENT, ...revoked }), none)
  })
})

describe('what is told of a lost delegation', () => {
  const lost = { chain: 'base', trader: TRADER, agent: AGENT, isToOwnAgent: false } as const

  it('is who may act now', () => {
    const removed = delegationNotice({ ...lost, delegate: NOBODY }, NOW_MS)
    assert.deepEqual([removed.key.type, removed.content.severity], ['delegation_removed', 'warning'])
    const replaced = delegationNotice({ ...lost, delegate: STRANGER }, NOW_MS)
    assert.deepEqual([replaced.key.type, replaced.content.severity], ['delegation_replaced', 'warning'])
    assert.ok(replaced.content.message.includes(STRANGER))
    assert.equal(delegationNotice({ ...lost, delegate: OTHER, isToOwnAgent: true }, NOW_MS).content.severity, 'info')
  })

  it('ends by the keys it was told under', () => {
    const keys = [NOBODY, STRANGER].map((delegate) => delegationNotice({ ...lost, delegate }, NOW_MS).key)
    assert.deepEqual(delegationNoticeKeys('base', TRADER, AGENT), keys)
  })
})

describe('what is told of a pause', () => {
  it('follows what the Diamond says, and takes what it does not know for a pause', () => {
    const told = [0, 1, 2, 3].map((activated) => pauseNotice('base', activated, NOW_MS))
    assert.deepEqual(
      told.map((notice) => [notice?.key.type, notice?.content.severity]),
      [
        [undefined, undefined],
        ['chain_close_only', 'warning'],
        ['chain_paused', 'critical'],
        ['chain_paused', 'critical'],
      ],
    )
    assert.equal(told[2]?.expiresAtMs, null)
  })
})
