import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address, type Hex } from '@bezel/protocol'
import { numberToHex } from 'viem'
import { appendEvents } from './accountEventStore.ts'
import { insertBlock } from './blockStore.ts'
import { readCommitPoint } from './chainTimeStore.ts'
import { numberCommit } from './commitStore.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { migrate } from './openStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'

const TRADERS: readonly Address[] = ['1', '2'].map((digit) => parseAddress('0x'.padEnd(42, digit))!)

/** Number of migrations before the one that begins to keep the time of commits. */
const VERSION_BEFORE = 25

describe('the point up to which a chain is committed', () => {
  let opened: TestStore

  beforeEach(() => {
    opened = openTestStore()
  })
  afterEach(() => opened.remove())

  const hashOf = (n: number): Hex => numberToHex(n, { size: 32 }) as Hex
  const blockOf = (number: number) => ({
    number,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestampMs: number * 1_000,
  })

  it('is of its own chain, never goes back in time, and has the last block', async () => {
    const { store } = opened
    await migrate(store)
    const point = () => readCommitPoint(store.read, 'base')
    assert.deepEqual(await point(), { committedAtMs: 0, commits: 0, head: undefined })
    const of = { chain: 'base', maxHeldMs: 10, body: () => '' } as const
    const note = (atMs: number) =>
      store.transaction(TEST_SCOPE, async (sql) => numberCommit(sql, { ...of, atMs }, () => undefined))
    for (const atMs of [7, 9, 8]) await note(atMs)
    assert.deepEqual(await point(), { committedAtMs: 9, commits: 3, head: undefined })
    await store.transaction(TEST_SCOPE, async (sql) => {
      for (const number of [3, 5, 4]) await insertBlock(sql, 'base', blockOf(number))
      await insertBlock(sql, 'arbitrum', blockOf(6))
    })
    assert.deepEqual(await point(), { committedAtMs: 9, commits: 3, head: blockOf(5) })
    const other = await readCommitPoint(store.read, 'arbitrum')
    assert.deepEqual(other, { committedAtMs: 0, commits: 0, head: blockOf(6) })
  })

  it('begins, in a store of before, with the last event that any log of the chain tells', async () => {
    const { store } = opened
    await migrate(store, MIGRATIONS.slice(0, VERSION_BEFORE))
    await store.transaction(TEST_SCOPE, async (sql) => {
      for (const [at, trader] of TRADERS.entries()) {
        const event = { channel: 'orders', block: null, isReverted: false, data: '{}' } as const
        const events = [100, 200].map((timestampMs) => ({ ...event, timestampMs: timestampMs + at }))
        await appendEvents(sql, { chain: 'base', trader }, events)
      }
    })
    await migrate(store)
    assert.equal((await readCommitPoint(store.read, 'base')).committedAtMs, 201)
    assert.equal((await readCommitPoint(store.read, 'arbitrum')).committedAtMs, 0)
  })
})
