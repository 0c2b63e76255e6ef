import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { RENEWED_MS } from '../store/claimStore.ts'
import { countClaims } from './testing/countClaims.ts'
import { migrate } from '../store/openStore.ts'
import type { Store } from '../store/sql.ts'
import { openMemoryStore } from '../store/testing/memoryStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { MAX_CLAIMS, MAX_TRADER_CLAIMS } from './claims.ts'
import { MAX_PROVEN_AGENTS } from './proofs.ts'
import { registerAgent } from './registerAgent.ts'
import { openRegistry, type Registry } from './registry.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'

const DAY_MS = 86_400_000
const TRADER = addressOf('1')
const RELAYER = addressOf('9')
const READ = { ...sampleAgent().scope, permissions: 'read' } as const

const addressAt = (at: number): Address => `0x${at.toString(16).padStart(40, '0')}` as Address

describe('the bounds of registrations', () => {
  let store: Store
  let registry: Registry
  let nowMs: number
  let transactions: number
  let isAway: boolean
  const delegates = new Map<Address, Address>()

  beforeEach(async () => {
    nowMs = 1_700_000_000_000
    isAway = false
    delegates.clear()
    const opened = openMemoryStore()
    await migrate(opened)
    const refuse = async () => {
      throw new StoreUnavailableError('away')
    }
    store = {
      ...opened,
      read: { ...opened.read, get: (...of) => (isAway ? refuse() : opened.read.get(...of)) },
      transaction(scope, work) {
        transactions += 1
        return isAway ? refuse() : opened.transaction(scope, work)
      },
    }
    await open()
  })
  afterEach(() => store.close())

  const open = async (maxClaims = MAX_CLAIMS): Promise<void> => {
    registry = await openRegistry(store, { now: () => nowMs, maxClaims })
    transactions = 0
  }
  const register = (changes: Partial<AgentRecord> = {}, network = 'home'): Promise<AgentRecord> => {
    const look = async (trader: Address) => delegates.get(trader) ?? addressOf('0')
    const record = sampleAgent({ createdAtMs: nowMs, signedAtMs: nowMs, ...changes })
    return registerAgent({ registry, relayer: RELAYER, delegates: { look } }, { record, network, cause: { nowMs } })
  }
  const found = async (agent = addressOf('a')) => registry.findAgent('base', agent)
  const read = async (agent = addressOf('a')): Promise<void> => registry.noteStanding((await found(agent))!, 'seen')
  const count = async (rows: string): Promise<number> =>
    Number((await store.read.get<{ rows: bigint }>(`select count(*) as rows from ${rows}`))!.rows)
  const issueKey = (label: string) => {
    const times = { createdAtMs: nowMs, signedAtMs: nowMs }
    return registry.addKey({ chain: 'base', trader: TRADER, label, keyHash: label, network: 'home', ...times })
  }

  it('hold for one trader who approves for ever: the claims that ended first are dropped', async () => {
    for (let at = 1; at <= MAX_TRADER_CLAIMS + 20; at += 1, nowMs += 1) {
      await register({ agent: addressAt(at), mode: 'relayed' })
    }
    assert.deepEqual([await count('agents'), await countClaims(store.read)], [MAX_TRADER_CLAIMS, MAX_TRADER_CLAIMS])
    assert.equal(await found(addressAt(20)), undefined)
    assert.equal((await found(addressAt(21)))?.revoked, true)
    assert.equal((await found(addressAt(MAX_TRADER_CLAIMS + 20)))?.revoked, false)
  })

  it('of a trader with many ended ones drop none in force, nor any of others', async () => {
    await register()
    await register({ agent: addressOf('b'), trader: addressOf('2'), revoked: true })
    for (let at = 1; at <= MAX_TRADER_CLAIMS + 1; at += 1, nowMs += 1) {
      await register({ agent: addressAt(at), revoked: true })
    }
    assert.deepEqual([(await found())?.revoked, (await found(addressOf('b')))?.revoked], [false, true])
    assert.equal(await found(addressAt(1)), undefined)
  })

  it('publish nothing when a revoked agent is revoked again', async () => {
    const told: Address[] = []
    registry.onAgentChange(({ trader }) => told.push(trader))
    const revoke = () =>
      registry.changeAgent('base', addressOf('a'), (stored) => ({ ...stored!, revoked: true, signedAtMs: ++nowMs }))
    await register()
    await revoke()
    const listed = await registry.agentsOf('base', TRADER)
    await revoke()
    assert.deepEqual([told.length, registry.agentsOf('base', TRADER)], [2, listed])
    assert.equal((await found())?.signedAtMs, nowMs)
  })

  it('keep the time of a displaced claim as long as a claim, not for ever', async () => {
    delegates.set(addressOf('2'), RELAYER)
    for (let at = 1; at <= 20; at += 1, nowMs += 1) {
      await register({ agent: addressAt(at), trader: addressAt(1_000 + at), mode: 'relayed' })
      await register({ agent: addressAt(at), trader: addressOf('2'), mode: 'relayed', name: String(at) })
    }
    assert.equal(await count('accepted_structs where claimed_at > 0'), 20)
    nowMs += 7 * DAY_MS
    for (let at = 1; at <= 20; at += 1) {
      await registry.forgetOldClaims()
      await register({ agent: addressAt(2_000 + at), trader: addressAt(3_000 + at), mode: 'relayed' })
    }
    assert.equal(await count('accepted_structs where claimed_at > 0'), 0)
  })

  it('count the pairs whose timestamps are kept, also of agents that moved away', async () => {
    for (let at = 1; at <= MAX_PROVEN_AGENTS + 5; at += 1, nowMs += 2) {
      const agent = { agent: addressAt(at), agentSigned: true }
      await registry.noteStanding(await register(agent), 'delegated')
      nowMs += 1
      await register({ ...agent, trader: addressAt(1_000 + at) })
    }
    assert.equal(await count(`accepted_structs where is_kept = 1 and trader <> ''`), MAX_PROVEN_AGENTS)
    assert.equal(await count(`accepted_structs where is_kept = 1`), 2 * MAX_PROVEN_AGENTS)
    const back = await register({ agent: addressAt(1), agentSigned: true })
    await registry.noteStanding(back, 'delegated')
    assert.equal((await found(addressAt(1)))?.standing, 'delegated', 'its timestamp is kept anyway')
  })

  it('let a look at the chain renew nothing, write nothing beyond the cap, and prove nothing revoked', async () => {
    const revoked = await register({ revoked: true })
    transactions = 0
    await registry.noteStanding(revoked, 'delegated')
    assert.deepEqual([transactions, (await found())?.standing], [0, 'claimed'])
    for (let at = 1; at <= MAX_PROVEN_AGENTS; at += 1, nowMs += 1) {
      await registry.noteStanding(await register({ agent: addressAt(at), mode: 'relayed' }), 'delegated')
    }
    const further = await register({ agent: addressOf('c') })
    transactions = 0
    for (const pauseMs of [0, 6 * DAY_MS]) {
      nowMs += pauseMs
      await registry.noteStanding(further, 'delegated')
    }
    assert.equal(transactions, 0)
    nowMs += 2 * DAY_MS
    await registry.forgetOldClaims()
    assert.equal(await found(addressOf('c')), undefined)
  })

  it('hold for requests at once: one renewal writes, and one that fails is tried again soon', async () => {
    await register({ scope: READ })
    await read()
    const record = (await found())!
    nowMs += RENEWED_MS
    transactions = 0
    const readOften = () => Promise.all(Array.from({ length: 50 }, () => registry.noteStanding(record, 'seen')))
    await readOften()
    assert.equal(transactions, 1)
    nowMs += RENEWED_MS
    isAway = true
    await readOften()
    isAway = false
    transactions = 0
    await readOften()
    assert.equal(transactions, 0)
    nowMs += 60_000
    await readOften()
    assert.equal(transactions, 1)
  })

  it('note the use of a claim that was made anew within the hour', async () => {
    await open(2)
    await register({ scope: READ })
    await read()
    for (let at = 1; at <= 2; at += 1) await register({ agent: addressAt(at), trader: addressAt(at) }, 'home')
    assert.equal(await found(), undefined)
    nowMs += 1
    await register({ scope: READ })
    await read()
    assert.equal((await found())?.standing, 'seen')
  })

  it('never forget what was used once the chain knows its trader', async () => {
    await register({ scope: READ })
    await read()
    await issueKey('used')
    await registry.noteKeyUse('base', 'used')
    nowMs += 1
    await issueKey('unused')
    await registry.noteStanding(await register({ agent: addressOf('b') }), 'delegated')
    await register({ agent: addressOf('c') })
    const listed = await registry.agentsOf('base', TRADER)
    assert.equal(listed.length, 3)
    nowMs += 8 * DAY_MS
    await registry.forgetOldClaims()
    assert.deepEqual([(await found())?.standing, await found(addressOf('c'))], ['used', undefined])
    assert.equal(registry.agent('base', addressOf('a'))?.standing, 'used')
    assert.deepEqual(
      (await registry.agentsOf('base', TRADER)).map(({ standing }) => standing),
      ['used', 'delegated'],
    )
    assert.deepEqual(
      (await registry.listKeys('base', TRADER)).map(({ label, isProven }) => [label, isProven]),
      [['used', true]],
    )
    assert.equal(await registry.keyOwner('base', 'used'), TRADER)
    assert.equal(await countClaims(store.read), 0)
  })

  it('never let a claim evict itself, which would leave a record that nobody forgets', async () => {
    await open(1)
    for (let at = 1; at <= 10; at += 1, nowMs += 1) {
      await register({ agent: addressAt(at), trader: addressAt(at) }, at === 1 ? 'b' : 'a')
    }
    assert.deepEqual([await count('agents'), await countClaims(store.read)], [1, 1])
    // A request that waited is older than a claim that was renewed meanwhile.
    await registry.noteStanding((await found(addressAt(10)))!, 'seen')
    const waited = { createdAtMs: nowMs - 60_000, signedAtMs: nowMs - 60_000 }
    await register({ agent: addressAt(11), trader: addressAt(11), ...waited }, 'a')
    assert.deepEqual([await count('agents'), await countClaims(store.read)], [1, 1])
  })

  it('refuse no read while the store is away', async () => {
    await registry.changeAgent('base', addressOf('a'), () => sampleAgent({ standing: 'seen' }))
    isAway = true
    nowMs += 2 * RENEWED_MS
    await registry.noteStanding(registry.agent('base', addressOf('a'))!, 'seen')
  })
})
