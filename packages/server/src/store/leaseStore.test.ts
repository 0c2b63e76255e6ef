import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { acquireLease, holdLease, isLeaseFree, releaseLease, renewLease, type LeaseName } from './leaseStore.ts'
import { migrate } from './openStore.ts'
import type { Sql, Transaction } from './sql.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'

const KEEPER: LeaseName = { role: 'keeper', chain: '' }
/** Time that is left of a lease where a test finds it held, at least. */
const QUICK_MS = 900

describe('leases', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const inStore = <Result>(work: (sql: Transaction) => Promise<Result>): Promise<Result> =>
    opened.store.transaction({ name: 'lease test' }, work)
  const acquire = (holder: string, name = KEEPER): Promise<bigint | undefined> =>
    inStore((sql) => acquireLease(sql, name, holder))
  const isFree = (holder: string): Promise<boolean> => isLeaseFree(opened.store.read, KEEPER, holder)
  const moveRenewal = (byMs: number): Promise<number> =>
    inStore((sql) => sql.run('update leases set renewed_at = renewed_at + $1', byMs))
  /** Does something with no lease at first, and anew when it failed on a machine that took the time of a lease. */
  const quickly = async (work: () => Promise<void>): Promise<void> => {
    await until('a machine that is quick enough', async () => {
      await inStore((sql) => sql.run('delete from leases'))
      const begunMs = performance.now()
      try {
        await work()
        return true
      } catch (error) {
        if (performance.now() - begunMs < QUICK_MS) throw error
        return false
      }
    })
  }
  const termOf = (holder: string, token: bigint) => ({ ...KEEPER, holder, token })

  it('are held by one, each for its role and chain', async () => {
    assert.equal(await isFree('a'), true)
    assert.deepEqual([await acquire('a'), await acquire('b')], [1n, undefined])
    assert.deepEqual([await isFree('a'), await isFree('b')], [true, false])
    assert.equal(await acquire('b', { role: 'keeper', chain: 'base' }), 1n)
    assert.equal(await acquire('b', { role: 'follower', chain: '' }), 1n)
  })

  it('are taken by another when they were not renewed for three seconds, with the next token', () =>
    quickly(async () => {
      await acquire('a')
      await moveRenewal(-2_000)
      assert.equal(await acquire('b'), undefined)
      assert.equal(await inStore((sql) => renewLease(sql, termOf('a', 1n))), true)
      await moveRenewal(-2_000)
      assert.equal(await isFree('b'), false)
      await moveRenewal(-1_001)
      assert.equal(await isFree('b'), true)
      assert.equal(await acquire('b'), 2n)
      assert.equal(await inStore((sql) => renewLease(sql, termOf('a', 1n))), false)
    }))

  it('are taken by another when the clock of the database was far ahead', async () => {
    await acquire('a')
    await moveRenewal(60_000)
    assert.equal(await acquire('b'), 2n)
  })

  it('get a new token when their own holder takes them again', async () => {
    assert.deepEqual([await acquire('a'), await acquire('a')], [1n, 2n])
    assert.equal(await inStore((sql) => renewLease(sql, termOf('a', 1n))), false)
  })

  it('are free at once after their release, which only their holder can do', async () => {
    await acquire('a')
    await inStore((sql) => releaseLease(sql, termOf('b', 1n)))
    await inStore((sql) => releaseLease(sql, termOf('a', 7n)))
    assert.equal(await isFree('b'), false)
    await inStore((sql) => releaseLease(sql, termOf('a', 1n)))
    assert.equal(await isHeld('a', 1n), false)
    assert.equal(await acquire('b'), 2n)
  })

  const isHeld = (holder: string, token: bigint): Promise<boolean> =>
    inStore((sql: Sql) => holdLease(sql, termOf(holder, token)))

  it('are held in a transaction by the same holder with the same token alone', async () => {
    await acquire('a')
    assert.deepEqual([await isHeld('a', 1n), await isHeld('a', 2n), await isHeld('b', 1n)], [true, false, false])
    await inStore((sql) => sql.run('delete from leases'))
    assert.equal(await isHeld('a', 1n), false)
    assert.equal(await acquire('b'), 1n)
    assert.equal(await isHeld('a', 1n), false)
  })
})
