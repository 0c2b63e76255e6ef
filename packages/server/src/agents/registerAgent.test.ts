import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { countClaims } from './testing/countClaims.ts'
import { migrate } from '../store/openStore.ts'
import type { Store } from '../store/sql.ts'
import { openMemoryStore } from '../store/testing/memoryStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { MAX_AGENTS } from './claims.ts'
import { endNamesakes, registerAgent, requireClaim, type ChainView } from './registerAgent.ts'
import { openRegistry, type Registry } from './registry.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const NOW_MS = 1_700_000_000_000

const DAY_MS = 86_400_000

const OWNER = addressOf('1')

const STRANGER = addressOf('2')

const RELAYER = addressOf('9')

const NOBODY = addressOf('0')

describe('requireClaim', () => {
  const judge = (of: {
    readonly stored?: Partial<AgentRecord>
    readonly next?: Partial<AgentRecord>
    readonly view?: Partial<ChainView>
    readonly nowMs?: number
    readonly claimedAtMs?: number
    readonly users?: readonly Address[]
  }) =>
    requireClaim({
      stored: sampleAgent(of.stored),
      next: sampleAgent({ trader: STRANGER, ...of.next }),
      view: { holder: OWNER, isHolderDelegated: false, isClaimantRelayed: false, ...of.view },
      nowMs: of.nowMs ?? NOW_MS,
      claimedAtMs: of.claimedAtMs ?? 0,
      users: of.users ?? [],
    })
  const allowed = (of: Parameters<typeof judge>[0]) => assert.doesNotThrow(() => judge(of))
  const refused = (of: Parameters<typeof judge>[0]) => assert.throws(() => judge(of), { code: 'TRADER_MISMATCH' })

  it('keeps an agent with its trader against claims without its signature, also when it is over', () => {
    refused({})
    refused({ stored: { revoked: true, standing: 'used' } })
    refused({ stored: { scope: { ...sampleAgent().scope, expiresAt: NOW_MS }, standing: 'used' } })
    refused({ stored: { standing: 'used' }, nowMs: NOW_MS + 365 * DAY_MS })
    refused({ stored: { standing: 'delegated' }, nowMs: NOW_MS + 365 * DAY_MS })
    refused({ stored: { standing: 'seen' }, nowMs: NOW_MS + 365 * DAY_MS })
  })

  it('frees an agent that was not in force for a day, unless the chain says otherwise by then', () => {
    refused({ nowMs: NOW_MS + DAY_MS - 1 })
    allowed({ nowMs: NOW_MS + DAY_MS })
    refused({ nowMs: NOW_MS + DAY_MS, view: { isHolderDelegated: true } })
    refused({ nowMs: NOW_MS + DAY_MS, view: { holder: STRANGER } })
  })

  it('gives it to whom the agent itself signs for, and to its own trader', () => {
    allowed({ stored: { standing: 'used', agentSigned: true }, next: { agentSigned: true } })
    allowed({ stored: { standing: 'used' }, next: { trader: OWNER } })
  })

  it('lets the trader win whose delegate is the relayer, until an action was accepted for the other', () => {
    const next = { mode: 'relayed' } as const
    const view = { isClaimantRelayed: true }
    allowed({ next, view })
    allowed({ next, view, stored: { standing: 'delegated' } })
    refused({ next, view: { ...view, isHolderDelegated: true } })
    refused({ next, view, stored: { standing: 'used' } })
    refused({ next, view, stored: { standing: 'seen' } })
    refused({ next, view, stored: { standing: 'delegated', revoked: true } })
    allowed({ next, view, stored: { revoked: true } })
    refused({ next, view, stored: { agentSigned: true } })
    refused({ next })
    refused({ view })
  })

  it('lets the earlier claim win where both have delegated and no action was accepted', () => {
    const next = { mode: 'relayed' } as const
    const view = { isClaimantRelayed: true, isHolderDelegated: true }
    allowed({ next, view, claimedAtMs: NOW_MS - 1, stored: { standing: 'delegated' } })
    refused({ next, view, claimedAtMs: NOW_MS })
    refused({ next, view, claimedAtMs: NOW_MS - 1, stored: { standing: 'used' } })
    refused({ next, view, claimedAtMs: NOW_MS - 1, stored: { agentSigned: true } })
    refused({ next, view: { ...view, isClaimantRelayed: false }, claimedAtMs: NOW_MS - 1 })
  })

  it('gives a key that acts on another chain to the trader it acts for there, unless it acts or signed here', () => {
    const users = [STRANGER]
    allowed({ users })
    allowed({ users, view: { isHolderDelegated: true }, stored: { standing: 'delegated' } })
    allowed({ users, stored: { standing: 'delegated', revoked: true } })
    refused({ users, stored: { standing: 'used' } })
    refused({ users, stored: { standing: 'seen' } })
    refused({ users, stored: { agentSigned: true } })
    refused({ users: [OWNER, STRANGER] })
  })

  it('lets nobody win by delegation or by being earlier against the trader that the key acts for elsewhere', () => {
    const next = { mode: 'relayed' } as const
    const view = { isClaimantRelayed: true }
    refused({ next, view, users: [OWNER] })
    allowed({ next, view, users: [OWNER, STRANGER] })
    const both = { ...view, isHolderDelegated: true }
    refused({ next, view: both, claimedAtMs: NOW_MS - 1, users: [addressOf('3')] })
    allowed({ next, view: both, claimedAtMs: NOW_MS - 1, users: [OWNER, STRANGER] })
  })
})

describe('registerAgent', () => {
  let store: Store
  let registry: Registry
  let nowMs: number
  let delegates: Map<Address, Address>

  beforeEach(async () => {
    nowMs = NOW_MS
    delegates = new Map()
    looked = new Map()
    store = openMemoryStore()
    await migrate(store)
    registry = await openRegistry(store, { now: () => nowMs, maxClaims: 6 })
  })
  afterEach(() => store.close())

  const known = (trader: Address): Address => delegates.get(trader) ?? NOBODY
  /** Delegates as they were looked at before; a look that must not be older than now asks the chain. */
  let looked: Map<Address, Address>
  const look = async (trader: Address, maxAgeMs?: number): Promise<Address> =>
    maxAgeMs === 0 ? known(trader) : (looked.get(trader) ?? known(trader))
  const register = (changes: Partial<AgentRecord> = {}, network = '10.0.0.0/24') => {
    const parts = { registry, relayer: RELAYER, delegates: { look } }
    const record = sampleAgent({ createdAtMs: nowMs, signedAtMs: nowMs, ...changes })
    return registerAgent(parts, { record, network, cause: { nowMs } })
  }
  const agentAt = (at: number): Address => `0x${at.toString(16).padStart(40, '0')}` as Address

  it('takes a newer struct of the same trader, keeps what was proven, and refuses an older one', async () => {
    const first = await register({ agentSigned: true })
    await registry.noteStanding(first, 'used')
    await assert.rejects(register({ name: 'again' }), { code: 'NONCE_REUSED' })
    nowMs += 1
    const second = await register({ name: 'again' })
    assert.deepEqual([second.agentSigned, second.standing, second.createdAtMs], [true, 'used', NOW_MS])
  })

  it('never lets the timestamp of a pair go back, whoever registers the agent in between', async () => {
    nowMs += 20_000
    await register({ agentSigned: true })
    await registry.changeAgent('base', addressOf('a'), (stored) => ({ ...stored!, revoked: true }))
    // The thief of the key moves the agent to a trader of his own, and back by the owner's struct of before.
    await register({ trader: STRANGER, agentSigned: true, signedAtMs: nowMs + 1 })
    await assert.rejects(register({ agentSigned: true }), { code: 'NONCE_REUSED' })
    nowMs += 20_000
    await assert.rejects(register({ agentSigned: true, signedAtMs: NOW_MS + 20_000 }), { code: 'NONCE_REUSED' })
  })

  it('does not let a stranger use the signature that an agent gave for its trader', async () => {
    await register({ agentSigned: true })
    await assert.rejects(register({ trader: STRANGER, agentSigned: true }), { code: 'NONCE_REUSED' })
  })

  it('gives an agent to its owner even when a stranger dated his claim ahead', async () => {
    await register({ trader: STRANGER, signedAtMs: nowMs + 30_000 })
    assert.equal((await register({ agentSigned: true })).trader, OWNER)
  })

  it('keeps an agent with its trader whose delegation was mined after the last look', async () => {
    delegates.set(STRANGER, RELAYER)
    await register({ mode: 'relayed' })
    looked.set(OWNER, NOBODY)
    delegates.set(OWNER, RELAYER)
    await assert.rejects(register({ trader: STRANGER, mode: 'relayed' }), { code: 'TRADER_MISMATCH' })
  })

  it('gives an agent back to the earlier claim once its trader has delegated too, and moves it no more', async () => {
    delegates.set(STRANGER, RELAYER)
    const first = await register({ mode: 'relayed' })
    nowMs += 3_600_000
    const taken = await register({ trader: STRANGER, mode: 'relayed' })
    await registry.noteStanding(taken, 'delegated')
    delegates.set(OWNER, RELAYER)
    nowMs += 3_600_000
    const back = await register({ mode: 'relayed' })
    assert.deepEqual([back.trader, back.createdAtMs], [OWNER, first.createdAtMs])
    nowMs += 1
    await assert.rejects(register({ trader: STRANGER, mode: 'relayed' }), { code: 'TRADER_MISMATCH' })
  })

  it('gives an agent that acted for a trader on another chain back to it', async () => {
    await registry.noteStanding(await register({ chain: 'arbitrum', mode: 'relayed' }), 'used')
    delegates.set(STRANGER, RELAYER)
    await registry.noteStanding(await register({ trader: STRANGER, mode: 'relayed' }), 'delegated')
    nowMs += 1
    assert.equal((await register({ mode: 'relayed' })).trader, OWNER)
    nowMs += 1
    await assert.rejects(register({ trader: STRANGER, mode: 'relayed' }), { code: 'TRADER_MISMATCH' })
  })

  it('lets a trader have so many agents in force, and no more', async () => {
    registry = await openRegistry(store, { now: () => nowMs })
    for (let at = 1; at < MAX_AGENTS; at += 1) await register({ agent: agentAt(at) })
    await register({ agent: agentAt(100), revoked: true })
    await register({ agent: agentAt(101), scope: { ...sampleAgent().scope, expiresAt: nowMs } })
    await register()
    await assert.rejects(register({ agent: agentAt(102) }), { code: 'UNSUPPORTED', details: { limit: MAX_AGENTS } })
    await register({ signedAtMs: nowMs + 1 })
  })

  it('ends the older relayed agent of a name, and a trader with all its agents can still rotate one', async () => {
    registry = await openRegistry(store, { now: () => nowMs })
    const named = (at: number): Partial<AgentRecord> => ({ agent: agentAt(at), name: `bot ${at}`, mode: 'relayed' })
    for (let at = 1; at <= MAX_AGENTS; at += 1) await register(named(at))
    await registry.noteStanding((await registry.findAgent('base', agentAt(7)))!, 'used')
    nowMs += 1
    await register({ ...named(7), agent: addressOf('b') })
    assert.equal(registry.agent('base', agentAt(7))?.revoked, true)
    assert.equal((await registry.findAgent('base', agentAt(8)))?.revoked, false)
    await assert.rejects(register({ ...named(7), signedAtMs: nowMs }), { code: 'NONCE_REUSED' })
  })

  it('ends nothing by an approval that was held back, and never the trader as its own agent', async () => {
    await register({ agent: OWNER, mode: 'relayed', agentSigned: true })
    await register({ agent: addressOf('b'), mode: 'relayed', signedAtMs: nowMs + 5 })
    await assert.rejects(register({ mode: 'relayed', signedAtMs: nowMs + 4 }), { code: 'NONCE_REUSED' })
    const zero = { chain: 'base', trader: OWNER, agent: NOBODY, name: '', signedAtMs: nowMs + 6 } as const
    await store.transaction(TEST_SCOPE, (sql) => endNamesakes(sql, registry, zero, { nowMs }))
    const agents = await Promise.all([OWNER, addressOf('b')].map((agent) => registry.findAgent('base', agent)))
    assert.deepEqual(
      agents.map((record) => record?.revoked),
      [false, true],
    )
  })

  it('holds so many claims and no more: the network that holds the most loses its oldest', async () => {
    for (let at = 1; at <= 4; at += 1, nowMs += 1) await register({ agent: agentAt(at), trader: agentAt(at) }, 'crowd')
    for (let at = 5; at <= 8; at += 1, nowMs += 1) await register({ agent: agentAt(at), trader: agentAt(at) }, `n${at}`)
    assert.equal(await countClaims(store.read), 6)
    const kept = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((at) => registry.findAgent('base', agentAt(at))))
    assert.deepEqual(
      kept.map((record) => record !== undefined),
      [false, false, true, true, true, true, true, true],
    )
    await registry.noteStanding(kept[7]!, 'delegated')
    assert.equal(await countClaims(store.read), 5)
  })

  it('takes less than a kilobyte for a claim of 64 markets', async () => {
    const markets = Array.from({ length: 64 }, (_, at) => `TOK${at}/USD`)
    await register({ name: 'x'.repeat(32), scope: { ...sampleAgent().scope, markets } }, 'ffff:ffff:ffff::/48')
    const bytesOf = async (table: string): Promise<number> => {
      const row = await store.read.get<Record<string, unknown>>(`select * from ${table} limit 1`)
      return Object.values(row ?? {}).reduce<number>((sum, value) => sum + String(value).length, 0)
    }
    assert.ok((await bytesOf('agents')) + (await bytesOf('claims')) < 1_250)
    assert.ok((await bytesOf('agents')) < 1_024)
  })

  it('forgets a claim after seven days, and nothing that was in force', async () => {
    const first = await register()
    await register({ agent: addressOf('b') })
    await registry.noteStanding(first, 'delegated')
    assert.equal((await registry.agentsOf('base', OWNER)).length, 2)
    nowMs += 7 * DAY_MS + 1
    await registry.forgetOldClaims()
    const left = (await registry.agentsOf('base', OWNER)).map(({ agent }) => agent)
    assert.deepEqual(left, [first.agent])
    assert.equal(await countClaims(store.read), 0)
  })
})
