import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { migrate } from '../store/migrate.ts'
import { openTestStore, type TestStore } from '../store/testStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { createApiKey, hashApiKey } from './apiKey.ts'
import { openRegistry } from './registry.ts'

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
    const stop = registry.onAgentChange((chain, trader) => {
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
