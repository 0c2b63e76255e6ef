import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '@bezel/sdk'
import { agentStateOf, registeredOf, replacedBy, sortAgents } from './agentStatus.ts'

const TRADER = '0x8e32e79781136104B0dabBA623660d0Ab79875e5'
const BOT = '0x00000000000000000000000000000000000000A1'
const OTHER = '0x00000000000000000000000000000000000000b2'
const RELAYER = '0x00000000000000000000000000000000000000C3'
const NOW_MS = 1_800_000_000_000

function agentOf(changes: Partial<Agent> = {}, scope: Partial<Agent['scope']> = {}): Agent {
  const open = {
    markets: 'all',
    maxLeverage: null,
    dailySpendCapUsd: null,
    expiresAt: null,
    permissions: 'trade',
  } as const
  return {
    agent: BOT,
    trader: TRADER,
    name: 'bot',
    scope: { ...open, ...scope },
    mode: 'self',
    status: 'active',
    createdAt: NOW_MS,
    ...changes,
  } as Agent
}

describe('agentStateOf', () => {
  const state = (agent: Agent, delegate?: `0x${string}` | null) => agentStateOf(agent, delegate, NOW_MS)

  it('says what is due', () => {
    assert.deepEqual([state(agentOf()).label, state(agentOf()).due], ['active', null])
    assert.deepEqual(state(agentOf({ status: 'pending_delegation' })).due, 'delegate')
    assert.equal(state(agentOf({ status: 'revoked' }), null).due, null)
  })

  it('warns of a revoked or expired agent that the chain still obeys', () => {
    for (const status of ['revoked', 'expired'] as const) {
      const { tone, due, label } = state(agentOf({ status }), BOT.toLowerCase() as `0x${string}`)
      assert.deepEqual([tone, due, label], ['bad', 'undelegate', `${status}, still delegate`])
    }
  })

  it('is expired by the clock before the service is asked again', () => {
    assert.equal(state(agentOf({}, { expiresAt: NOW_MS - 1 })).label, 'expired')
    assert.equal(state(agentOf({}, { expiresAt: NOW_MS + 1 })).label, 'active')
  })

  it('wants no delegation of readers, of the wallet itself and of relayed agents', () => {
    const pending = { status: 'pending_delegation' } as const
    assert.equal(state(agentOf(pending, { permissions: 'read' })).label, 'may read')
    assert.match(state(agentOf({ agent: TRADER })).sentence ?? '', /wallet itself/)
    assert.equal(state(agentOf({ ...pending, mode: 'relayed' })).due, null)
  })
})

describe('registeredOf', () => {
  const draft = { kind: 'new', hasOwnKey: true, address: BOT.toLowerCase(), registered: null } as const

  it('is what the answer said, or what the list has of a key that was made here', () => {
    assert.equal(registeredOf({ ...draft, registered: OTHER }, []), OTHER)
    assert.equal(registeredOf(draft, [agentOf()]), BOT)
    assert.equal(registeredOf(draft, [agentOf({ agent: OTHER })]), null)
    assert.equal(registeredOf(draft, null), null)
  })

  it('is nothing for an address that was typed, and for a change of limits', () => {
    assert.equal(registeredOf({ ...draft, hasOwnKey: false }, [agentOf()]), null)
    assert.equal(registeredOf({ ...draft, kind: 'change' }, [agentOf()]), null)
  })
})

describe('replacedBy', () => {
  const agents = [agentOf(), agentOf({ agent: OTHER, name: '', status: 'pending_delegation' })]
  const replaced = (next: string, delegate?: `0x${string}` | null) =>
    replacedBy(next, { delegate, agents, relayer: RELAYER })

  it('replaces nobody when there is no delegate, or the same', () => {
    assert.equal(replaced(OTHER, null), null)
    assert.equal(replaced(BOT.toLowerCase(), BOT), null)
  })

  it('names the one before: an agent, the relayer, a stranger', () => {
    assert.equal(replaced(OTHER, BOT), `the agent bot (${BOT})`)
    assert.equal(replaced(BOT, OTHER), `the agent ${OTHER}`)
    assert.match(replaced(BOT, RELAYER) ?? '', /the relayer/)
    assert.match(replaced(BOT, TRADER) ?? '', /does not know/)
  })

  it('goes by the service where the chain can not be read', () => {
    assert.equal(replaced(OTHER), `the agent bot (${BOT})`)
    assert.equal(replaced(BOT), null)
  })
})

it('lists agents in use before those that have ended, newest first', () => {
  const list = [
    agentOf({ name: 'ended', status: 'revoked', createdAt: 9 }),
    agentOf({ name: 'old', createdAt: 1 }),
    agentOf({ name: 'new', createdAt: 5 }),
  ]
  assert.deepEqual(
    sortAgents(list).map(({ name }) => name),
    ['new', 'old', 'ended'],
  )
})
