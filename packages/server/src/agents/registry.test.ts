import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { findApiKey } from '../store/apiKeyStore.ts'
import { countClaims } from './testing/countClaims.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'
import { migrate } from '../store/openStore.ts'
import type { Store } from '../store/sql.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { type AgentRecord, agentStatus } from '../trading/agentRecord.ts'
import { createApiKey, hashApiKey } from './apiKey.ts'
import { MAX_API_KEYS } from './keys.ts'
import { openRegistry, type Registry } from './registry.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const NOW_MS = 1_700_000_000_000

const DAY_MS = 86_400_000

const TRADER = addressOf('1')

const AGENT = addressOf('a')

const RECORD: AgentRecord = sampleAgent({
  name: 'bot "1"',
  scope: { markets: ['BTC/USD'], maxLeverage: '5', dailySpendCapUsd: null, expiresAt: 7, permissions: 'trade' },
  agentSigned: true,
  standing: 'used',
  createdAtMs: 1,
  signedAtMs: 2,
})

const key = (keyHash: string, signedAtMs: number, label = 'desk', network = '10.0.0.0/24') =>
  ({ chain: 'base', trader: TRADER, label, keyHash, createdAtMs: 1, signedAtMs, network }) as const

/** Returns a store that counts the reads of it. */
function counted(store: Store, count: () => void): Store {
  const get: Store['read']['get'] = (text, ...params) => {
    count()
    return store.read.get(text, ...params)
  }
  return { ...store, read: { ...store.read, get } }
}

describe('the registry', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const put = (registry: Registry, record: AgentRecord) =>
    registry.changeAgent(record.chain, record.agent, () => record)

  it('has an agent as it was registered, on its chain only, and after a restart', async () => {
    await put(await openRegistry(opened.store), RECORD)
    const registry = await openRegistry(await opened.reopen())
    assert.deepEqual(await registry.findAgent('base', AGENT), RECORD)
    assert.deepEqual(await registry.agentsOf('base', TRADER), [RECORD])
    assert.equal(await registry.findAgent('polygon', AGENT), undefined)
  })

  it('answers from memory for agents that were in force, and keeps no claim there', async () => {
    let reads = 0
    const registry = await openRegistry(counted(opened.store, () => (reads += 1)))
    const claimed = sampleAgent({ agent: addressOf('b') })
    await put(registry, RECORD)
    await put(registry, claimed)
    assert.deepEqual(registry.findAgent('base', AGENT), RECORD)
    assert.equal(registry.agent('base', claimed.agent), undefined)
    assert.deepEqual([await registry.findAgent('base', claimed.agent), reads], [claimed, 1])
    assert.equal(registry.agent('base', claimed.agent), undefined)
    await registry.noteStanding(claimed, 'used')
    assert.deepEqual(registry.findAgent('base', claimed.agent), { ...claimed, standing: 'used' })
    assert.equal(reads, 1)
  })

  it('reads the store once for an address that is nobody, until it is registered', async () => {
    let reads = 0
    const registry = await openRegistry(counted(opened.store, () => (reads += 1)))
    for (let at = 0; at < 5; at += 1) assert.equal(await registry.findAgent('base', AGENT), undefined)
    for (let at = 0; at < 5; at += 1) assert.equal(await registry.keyOwner('base', 'h1'), undefined)
    assert.equal(reads, 2)
    await put(registry, sampleAgent())
    await registry.addKey(key('h1', 5))
    assert.deepEqual(await registry.findAgent('base', AGENT), sampleAgent())
    assert.equal(await registry.keyOwner('base', 'h1'), TRADER)
  })

  it('has an agent with its new trader alone when it serves another one', async () => {
    const registry = await openRegistry(opened.store)
    await put(registry, RECORD)
    assert.deepEqual(await registry.agentsOf('base', TRADER), [RECORD])
    const moved = await registry.changeAgent('base', AGENT, (stored) => ({ ...stored!, trader: AGENT }))
    assert.deepEqual(await registry.agentsOf('base', TRADER), [])
    assert.deepEqual(await registry.agentsOf('base', AGENT), [moved])
  })

  it('shows at once that an agent in memory moved to a trader who only claims it', async () => {
    const registry = await openRegistry(opened.store)
    await put(registry, RECORD)
    const moved = await put(registry, sampleAgent({ trader: addressOf('2') }))
    assert.deepEqual(registry.agent('base', AGENT), moved)
  })

  it('tells of every trader whose agents have changed, once that is durable', async () => {
    const registry = await openRegistry(opened.store)
    const changed: string[] = []
    const stop = registry.onAgentChange(({ chain, trader }) => changed.push(`${chain} ${trader}`))
    await put(registry, RECORD)
    await registry.changeAgent('base', AGENT, (stored) => ({ ...stored!, trader: AGENT }))
    await assert.rejects(registry.changeAgent('base', AGENT, () => assert.fail('refused')))
    assert.deepEqual(changed, [`base ${TRADER}`, `base ${TRADER}`, `base ${AGENT}`])
    stop()
    await put(registry, RECORD)
    assert.equal(changed.length, 3)
  })

  it('lists all agents in force however many are over, in a stable order', async () => {
    const registry = await openRegistry(opened.store, { now: () => NOW_MS })
    const inForce = ['c', 'b', 'd'].map((digit) => sampleAgent({ agent: addressOf(digit), createdAtMs: 1 }))
    for (const record of inForce) await put(registry, record)
    for (let at = 0; at < 120; at += 1) {
      const agent = `0x${at.toString(16).padStart(40, '0')}` as Address
      const over = at % 2 === 0 ? { revoked: true } : { scope: { ...RECORD.scope, expiresAt: NOW_MS } }
      await put(registry, sampleAgent({ agent, ...over }))
    }
    const listed = await (await openRegistry(await opened.reopen(), { now: () => NOW_MS })).agentsOf('base', TRADER)
    assert.deepEqual(
      listed.slice(0, 3).map(({ agent }) => agent),
      ['b', 'c', 'd'].map(addressOf),
    )
    assert.ok(listed.length <= 100)
  })

  it('changes nothing, in memory or on disk, when a change is refused', async () => {
    const registry = await openRegistry(opened.store)
    await put(registry, RECORD)
    const refuse = () => {
      throw new Error('refused')
    }
    await assert.rejects(registry.changeAgent('base', AGENT, refuse), /refused/)
    assert.deepEqual(registry.agent('base', AGENT), RECORD)
    assert.deepEqual(await (await openRegistry(opened.store)).findAgent('base', AGENT), RECORD)
  })

  it('lets changes at the same time see each other', async () => {
    const registry = await openRegistry(opened.store)
    await put(registry, RECORD)
    const bump = (stored: AgentRecord | undefined) => ({ ...stored!, signedAtMs: stored!.signedAtMs + 1 })
    await Promise.all(Array.from({ length: 10 }, () => registry.changeAgent('base', AGENT, bump)))
    assert.equal(registry.agent('base', AGENT)?.signedAtMs, 12)
  })
})

describe('the keys of the registry', () => {
  let opened: TestStore
  let nowMs: number

  beforeEach(async () => {
    nowMs = NOW_MS
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const open = () => openRegistry(opened.store, { now: () => nowMs })
  const owners = (registry: Registry, hashes: readonly string[]) =>
    Promise.all(hashes.map((hash) => registry.keyOwner('base', hash)))

  it('replaces a key by its label, refuses a replay, and keeps only hashes', async () => {
    const registry = await open()
    await registry.addKey(key('h1', 5))
    assert.equal(await registry.keyOwner('base', 'h1'), TRADER)
    await registry.addKey(key('h2', 6))
    await registry.addKey(key('h3', 7, 'other'))
    assert.equal(await registry.keyOwner('base', 'h1'), undefined)
    await assert.rejects(registry.addKey(key('h4', 7)), { code: 'NONCE_REUSED' })
    await opened.reopen()
    assert.deepEqual(await owners(await open(), ['h1', 'h2', 'h3', 'h4']), [undefined, TRADER, TRADER, undefined])
  })

  it('ends a key at once, and no struct of before brings it back', async () => {
    const registry = await open()
    await registry.addKey(key('h1', NOW_MS))
    await registry.noteKeyUse('base', 'h1')
    assert.equal(registry.isKeyEnded('base', 'h1'), false)
    const end = (label: string) => registry.endKey({ chain: 'base', trader: TRADER, label }, async () => undefined)
    const { transaction } = opened.store
    let transactions = 0
    opened.store.transaction = (scope, work) => ((transactions += 1), transaction(scope, work))
    assert.deepEqual([await end('nothing'), await end('desk'), await end('desk')], [false, true, false])
    assert.equal(transactions, 1, 'nobody writes to end nothing')
    assert.equal(registry.isKeyEnded('base', 'h1'), true)
    assert.equal(await registry.keyOwner('base', 'h1'), undefined)
    await assert.rejects(registry.addKey(key('h2', NOW_MS)), { code: 'NONCE_REUSED' })
  })

  it('lists keys with their last use, which is written once a minute when they are proven', async () => {
    const registry = await open()
    await registry.changeAgent('base', AGENT, () => RECORD)
    await registry.addKey(key('h1', 5))
    const used = async () =>
      (await registry.listKeys('base', TRADER)).map(({ label, lastUsedAtMs }) => [label, lastUsedAtMs])
    assert.deepEqual(await used(), [['desk', null]])
    await registry.noteKeyUse('base', 'h1')
    nowMs += 59_999
    await registry.noteKeyUse('base', 'h1')
    assert.deepEqual(await used(), [['desk', NOW_MS]])
    nowMs += 1
    await registry.noteKeyUse('base', 'h1')
    assert.deepEqual(await used(), [['desk', nowMs]])
  })

  it('gives a trader twenty keys and no more, and renews those it has', async () => {
    const registry = await open()
    for (let at = 0; at < MAX_API_KEYS; at += 1) await registry.addKey(key(`h${at}`, 10 + at, `label ${at}`))
    await assert.rejects(registry.addKey(key('one more', 50, 'one more')), {
      code: 'UNSUPPORTED',
      details: { limit: MAX_API_KEYS },
    })
    await registry.addKey(key('renewed', 51, 'label 3'))
    assert.equal((await registry.listKeys('base', TRADER)).length, MAX_API_KEYS)
  })

  it('counts a key as a claim until its trader is known', async () => {
    const registry = await open()
    await registry.addKey(key('h1', 5))
    assert.deepEqual([await countClaims(opened.store.read), registry.isKeyEnded('base', 'h1')], [1, false])
    await registry.changeAgent('base', AGENT, () => RECORD)
    await registry.noteKeyUse('base', 'h1')
    await registry.addKey(key('h2', 6, 'second'))
    assert.equal(await countClaims(opened.store.read), 0)
    nowMs += 8 * DAY_MS
    await registry.forgetOldClaims()
    assert.deepEqual(await owners(registry, ['h1', 'h2']), [TRADER, TRADER])
  })

  it('forgets a key that was not used for seven days', async () => {
    const registry = await open()
    await registry.addKey(key('h1', 5))
    nowMs += 7 * DAY_MS
    await registry.forgetOldClaims()
    assert.equal(await registry.keyOwner('base', 'h1'), TRADER)
    nowMs += 1
    await registry.forgetOldClaims()
    assert.equal(await findApiKey(opened.store.read, 'base', 'h1'), undefined)
  })
})

describe('a store of before there were claims', () => {
  it('keeps its agents and keys in force, with their expiry and their timestamps', async () => {
    const opened = openTestStore()
    await migrate(opened.store, MIGRATIONS.slice(0, 16))
    const row = (agent: Address, expiresAt: number | null) =>
      `insert into agents values ('base', '${agent}', '${TRADER}', 'old', '${JSON.stringify({ ...RECORD.scope, expiresAt })}', 'self', 1, 0, 3, 9)`
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      await sql.run(row(AGENT, null))
      await sql.run(row(addressOf('b'), NOW_MS))
      await sql.run(`insert into api_keys values ('base', '${TRADER}', 'desk', 'h1', 4, 9)`)
      await sql.run(`insert into orders (id, chain, trader, agent, request, created_at, spend_usd)
        values (1, 'base', '${TRADER}', '${AGENT}', '{}', 5, '0')`)
    })
    await migrate(opened.store)
    const registry = await openRegistry(opened.store, { now: () => NOW_MS })
    const found = await registry.findAgent('base', AGENT)
    assert.deepEqual([found?.standing, found?.scope.expiresAt, found?.name], ['used', null, 'old'])
    assert.equal((await registry.findAgent('base', addressOf('b')))?.standing, 'delegated', 'it never ordered')
    const expiries = await opened.store.read.all<{ expires_at: bigint }>('select expires_at from agents order by agent')
    assert.deepEqual(
      expiries.map((of) => Number(of.expires_at)),
      [Number.MAX_SAFE_INTEGER, NOW_MS],
    )
    assert.equal(await registry.keyOwner('base', 'h1'), TRADER)
    await assert.rejects(registry.addKey(key('h2', 9)), { code: 'NONCE_REUSED' })
    const pairs = await opened.store.read.all('select agent, trader from accepted_structs where signed_at = 9')
    assert.equal(pairs.length, 5)
    await opened.remove()
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

describe('agentStatus', () => {
  const expired = { scope: { ...sampleAgent().scope, expiresAt: NOW_MS } }

  it('is revoked before expired, expired before what the chain says', () => {
    assert.equal(agentStatus(sampleAgent({ revoked: true, ...expired }), true, NOW_MS), 'revoked')
    assert.equal(agentStatus(sampleAgent(expired), true, NOW_MS), 'expired')
    const later = { scope: { ...expired.scope, expiresAt: NOW_MS + 1 } }
    assert.equal(agentStatus(sampleAgent(later), true, NOW_MS), 'active')
    assert.equal(agentStatus(sampleAgent(), false, NOW_MS), 'pending_delegation')
  })
})
