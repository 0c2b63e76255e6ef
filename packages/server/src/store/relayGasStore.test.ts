import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type OrderId } from '@bezel/protocol'
import { MIGRATIONS } from './migrations/index.ts'
import { migrate } from './openStore.ts'
import {
  countActiveTraders,
  findExit,
  listExitUses,
  listWithoutExit,
  noteActiveTrader,
  readAsideWei,
  readExitNeed,
  readRelayedGasWei,
} from './relayGasStore.ts'
import { forgetRelayed, listRelayedAgents, listRelayEntries } from './relayStore.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

/** The number of migrations of the code before gas was set aside. */
const BEFORE = 16

const TRADER = parseAddress(`0x${'1'.repeat(40)}`)!
const OTHER = parseAddress(`0x${'3'.repeat(40)}`)!
const SENDER = { chain: 'base', sender: parseAddress(`0x${'2'.repeat(40)}`)! } as const
const HASH = `0x${'ab'.repeat(32)}`

describe('a store written before gas was set aside', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store, MIGRATIONS.slice(0, BEFORE))
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      const { chain, sender } = SENDER
      for (const [id, status] of [
        [1n, 'filled'],
        [2n, 'open'],
        [3n, 'canceled'],
      ] as const) {
        await sql.run(
          `insert into orders (id, chain, trader, request, created_at, spend_usd, status)
           values ($1, $2, $3, '{"kind":"open"}', 1, '0', $4)`,
          id,
          chain,
          TRADER,
          status,
        )
        await sql.run(
          `insert into attempts (id, order_id, chain, kind, sender, calldata, call_digest, gas, created_at, expires_at, is_mismatch)
           values ($1, $2, $3, 'open', $4, '0x', '', '700000', 1, 2, 0)`,
          `0x${id}`,
          id,
          chain,
          sender,
        )
      }
      await sql.run(
        `insert into positions (id, chain, trader, origin_order_id, is_open) values (4, $1, $2, 1, 1)`,
        chain,
        TRADER,
      )
      await sql.run(
        'insert into relay_senders (chain, sender, first_nonce, next_nonce) values ($1, $2, 0, 1)',
        chain,
        sender,
      )
      await sql.run(
        `insert into relay_entries (chain, sender, nonce, state, attempt_id, trader, calldata, gas, expires_at, day, counted_wei)
         values ($1, $2, 0, 'live', '0x2', $3, '0x', 700000, 5, 20000, '77')`,
        chain,
        sender,
        TRADER,
      )
      await sql.run(
        `insert into relay_versions (chain, sender, nonce, version, kind, hash, raw, max_fee_wei, max_priority_fee_wei, created_at)
         values ($1, $2, 0, 0, 'action', $3, '0x', '2', '1', 1)`,
        chain,
        sender,
        HASH,
      )
      await sql.run(`insert into relay_gas (chain, day, trader, wei) values ($1, 20000, '', '77')`, chain)
    })
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  it('keeps its entries and sums, with nobody as agent and nothing set aside', async () => {
    const { read } = opened.store
    const [entry] = await listRelayEntries(read, SENDER, { from: 0, limit: 10 })
    assert.deepEqual([entry?.action?.agent, entry?.action?.isExit, entry?.countedWei], [null, false, 77n])
    assert.deepEqual(await listRelayedAgents(read, SENDER, null), [])
    assert.equal(await readRelayedGasWei(read, 'base', 20_000, null), 77n)
    assert.deepEqual([await readAsideWei(read, 'base'), await listExitUses(read, SENDER, 0)], [0n, []])
    assert.equal(await findExit(read, 'base', '1' as OrderId), undefined)
  })

  it('names what is open and has no gas set aside, and what needs a way out', async () => {
    const { read } = opened.store
    // An order that was sent twice has the larger gas limit, by number.
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      sql.run(
        `insert into attempts (id, order_id, chain, kind, sender, calldata, call_digest, gas, created_at, expires_at, is_mismatch)
         select '0xa', order_id, chain, kind, sender, calldata, call_digest, '1100000', 3, 4, 0 from attempts where order_id = 1`,
      ),
    )
    const open = [
      { orderId: '1', gas: 1_100_000n },
      { orderId: '2', gas: 700_000n },
    ]
    assert.deepEqual(await listWithoutExit(read, SENDER), open)
    assert.deepEqual(await listWithoutExit(read, { ...SENDER, sender: OTHER }), [])
    const needs: boolean[] = []
    for (const id of ['1', '2', '3', '9']) needs.push((await readExitNeed(read, id as OrderId)).isNeeded)
    assert.deepEqual(needs, [true, true, false, false])
  })

  it('counts who is active, and forgets', async () => {
    const { store } = opened
    await store.transaction(TEST_SCOPE, async (sql) => {
      await noteActiveTrader(sql, { chain: 'base', trader: TRADER, atMs: 100 })
      await noteActiveTrader(sql, { chain: 'base', trader: OTHER, atMs: 200 })
      await noteActiveTrader(sql, { chain: 'base', trader: OTHER, atMs: 300 })
    })
    const count = (sinceMs: number): Promise<number> =>
      countActiveTraders(store.read, { chain: 'base', sinceMs, except: TRADER })
    assert.deepEqual([await count(250), await count(300)], [1, 0])
    await store.transaction(TEST_SCOPE, (sql) =>
      forgetRelayed(sql, 'base', { beforeMs: 1_000, beforeDay: 20_001, limit: 5 }),
    )
    assert.deepEqual([await count(0), await readRelayedGasWei(store.read, 'base', 20_000, null)], [0, 0n])
  })
})
