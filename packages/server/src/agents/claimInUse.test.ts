import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { countClaims } from './testing/countClaims.ts'
import { migrate } from '../store/openStore.ts'
import type { Store } from '../store/sql.ts'
import { openMemoryStore } from '../store/testing/memoryStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { MAX_PROVEN_AGENTS } from './proofs.ts'
import { registerAgent } from './registerAgent.ts'
import { openRegistry, type Registry } from './registry.ts'
import { addressOf, sampleAgent } from './testing/sampleAgent.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const NOW_MS = 1_700_000_000_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HOME = '10.0.0.0/24'
const TRADER = addressOf('1')

const agentAt = (at: number): Address => `0x${at.toString(16).padStart(40, '0')}` as Address

describe('a claim in use', () => {
  let store: Store
  let registry: Registry
  let nowMs: number
  let transactions: number

  beforeEach(async () => {
    nowMs = NOW_MS
    const opened = openMemoryStore()
    await migrate(opened)
    store = {
      ...opened,
      transaction(scope, work) {
        transactions += 1
        return opened.transaction(scope, work)
      },
    }
    await open()
  })
  afterEach(() => store.close())

  const open = async (): Promise<void> => {
    registry = await openRegistry(store, { now: () => nowMs, maxClaims: 6 })
    transactions = 0
  }
  const register = (changes: Partial<AgentRecord> = {}, network = HOME): Promise<AgentRecord> => {
    const parts = { registry, relayer: null, delegates: { look: async () => addressOf('0') } }
    const record = sampleAgent({ createdAtMs: nowMs, signedAtMs: nowMs, ...changes })
    return registerAgent(parts, { record, network, cause: { nowMs } })
  }
  const found = async (agent = addressOf('a')) => registry.findAgent('base', agent)
  /** Sends a read that the chain says nothing about. */
  const read = async (agent = addressOf('a')): Promise<void> => registry.noteStanding((await found(agent))!, 'seen')
  const claims = () => countClaims(store.read)
  const wait = async (ms: number): Promise<void> => {
    nowMs += ms
    await registry.forgetOldClaims()
  }
  const hold = (trader: Address) =>
    store.transaction(TEST_SCOPE, async (sql) => {
      await sql.run(`insert into orders (id, chain, trader, request, created_at, spend_usd)
        values (1, 'base', '${trader}', '{}', 5, '0')`)
      await sql.run(`insert into positions (id, chain, trader, origin_order_id, is_open)
        values (1, 'base', '${trader}', 1, 0)`)
    })

  it('stays a claim, in memory and counted, and is forgotten seven days after its last use', async () => {
    await register()
    await read()
    assert.deepEqual([registry.agent('base', addressOf('a'))?.standing, await claims()], ['seen', 1])
    await wait(6 * DAY_MS)
    await read()
    await wait(7 * DAY_MS)
    assert.equal((await found())?.standing, 'seen')
    await wait(1)
    assert.deepEqual([registry.agent('base', addressOf('a')), await found(), await claims()], [null, undefined, 0])
    assert.equal((await register()).standing, 'claimed')
  })

  it('is renewed once an hour and no oftener, also by a process that has just started', async () => {
    await register()
    transactions = 0
    for (let at = 0; at < 5; at += 1) await read()
    assert.equal(transactions, 1)
    await open()
    nowMs += HOUR_MS - 1
    for (let at = 0; at < 5; at += 1) await read()
    assert.equal(transactions, 0)
    nowMs += HOUR_MS
    for (let at = 0; at < 5; at += 1) await read()
    assert.equal(transactions, 1)
  })

  it('is not lost to a flood of claims in use, nor to idle ones of its own network', async () => {
    await register()
    for (let at = 1; at <= 20; at += 1, nowMs += HOUR_MS) {
      await register({ agent: agentAt(at), trader: agentAt(at) }, 'crowd')
      await read(agentAt(at))
      await read()
    }
    assert.deepEqual([await claims(), (await found())?.standing], [6, 'seen'])
    for (let at = 31; at <= 50; at += 1, nowMs += HOUR_MS) {
      await register({ agent: agentAt(at), trader: agentAt(at) })
      await read()
    }
    assert.deepEqual([await claims(), (await found())?.standing], [6, 'seen'])
  })

  it('is proven by a delegation, and as soon as the chain knows its trader', async () => {
    await register()
    await read()
    await registry.noteStanding((await found())!, 'delegated')
    assert.deepEqual([(await found())?.standing, await claims()], ['used', 0])
    await register({ agent: agentAt(1) })
    await read(agentAt(1))
    assert.equal((await found(agentAt(1)))?.standing, 'used', 'the trader has a delegated agent')
    await register({ agent: agentAt(2), trader: addressOf('2') })
    await read(agentAt(2))
    assert.equal((await found(agentAt(2)))?.standing, 'seen')
    await hold(addressOf('2'))
    nowMs += HOUR_MS
    await read(agentAt(2))
    assert.equal((await found(agentAt(2)))?.standing, 'used', 'the trader has a position')
  })

  it('stays one for a trader that has many proven agents already, whatever proves it', async () => {
    for (let at = 1; at <= MAX_PROVEN_AGENTS + 2; at += 1) {
      const record = await register({ agent: agentAt(at) })
      await registry.noteStanding(record, at % 2 === 0 ? 'used' : 'delegated')
      await registry.changeAgent('base', record.agent, (stored) => ({ ...stored!, revoked: true }))
    }
    assert.equal(await claims(), 2)
    const standings = [0, 1, 2].map(async (at) => (await found(agentAt(MAX_PROVEN_AGENTS + at)))?.standing)
    assert.deepEqual(await Promise.all(standings), ['used', 'claimed', 'seen'])
  })

  it('is a key as well: used, in memory, renewed, and told when it goes', async () => {
    const issue = (label: string, signedAtMs: number) =>
      registry.addKey({
        chain: 'base',
        trader: TRADER,
        label,
        keyHash: label,
        createdAtMs: 1,
        signedAtMs,
        network: HOME,
      })
    await issue('desk', 1)
    await registry.noteKeyUse('base', 'desk')
    assert.equal(await claims(), 1)
    await wait(6 * DAY_MS)
    await registry.noteKeyUse('base', 'desk')
    await wait(7 * DAY_MS)
    assert.deepEqual([registry.keyOwner('base', 'desk'), registry.isKeyEnded('base', 'desk')], [TRADER, false])
    await wait(1)
    assert.deepEqual([registry.keyOwner('base', 'desk'), registry.isKeyEnded('base', 'desk')], [undefined, true])
    await issue('second', 2)
    await hold(TRADER)
    await registry.noteKeyUse('base', 'second')
    assert.equal(await claims(), 0)
    await wait(8 * DAY_MS)
    assert.equal(registry.keyOwner('base', 'second'), TRADER)
  })
})
