import { StoreUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Store } from './sql.ts'
import { describeStoreContract } from './testing/storeContract.ts'
import { openSqliteTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

describeStoreContract('SQLite', async () => openSqliteTestStore())

describe('the SQLite store', () => {
  let opened: TestStore
  let store: Store

  beforeEach(async () => {
    opened = openSqliteTestStore()
    store = opened.store
    await store.transaction(TEST_SCOPE, (sql) => sql.run('create table t (n bigint not null unique, text text)'))
  })
  afterEach(() => opened.remove())

  const count = async (): Promise<bigint> => (await store.read.get<{ c: bigint }>('select count(*) as c from t'))!.c

  it('tells of a commit before the next transaction begins, and of nothing that is rolled back', async () => {
    const seen: string[] = []
    const work = (name: string, fails = false) =>
      store.transaction(TEST_SCOPE, async (sql) => {
        seen.push(`${name} begins`)
        sql.afterCommit(() => seen.push(`${name} is told`))
        if (fails) throw new Error('changed my mind')
      })
    await Promise.allSettled([work('a'), work('b', true), work('c')])
    assert.deepEqual(seen, ['a begins', 'a is told', 'b begins', 'c begins', 'c is told'])
  })

  it('runs transactions one after the other, in the order of the calls', async () => {
    const seen: string[] = []
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        store.transaction(TEST_SCOPE, async () => {
          seen.push(`${name} begins`)
          await new Promise((resolve) => setImmediate(resolve))
          seen.push(`${name} ends`)
        }),
      ),
    )
    assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  it(
    'says it is unavailable, and goes on afterwards, when another process holds the lock',
    { timeout: 600_000 },
    async () => {
      const other = new DatabaseSync(opened.file)
      other.exec('begin immediate')
      await assert.rejects(
        store.transaction(TEST_SCOPE, (sql) => sql.run('insert into t values ($1, $2)', 1n, 'a')),
        StoreUnavailableError,
      )
      other.exec('rollback')
      other.close()
      await store.transaction(TEST_SCOPE, (sql) => sql.run('insert into t values ($1, $2)', 1n, 'a'))
      assert.equal(await count(), 1n)
    },
  )

  it(
    'holds up nothing else while it waits for the lock, and those in line wait together',
    { timeout: 600_000 },
    async () => {
      const other = new DatabaseSync(opened.file)
      other.exec('begin exclusive')
      const startMs = Date.now()
      const refusedAfterMs = [1n, 2n, 3n].map(async (n) => {
        const written = store.transaction(TEST_SCOPE, (sql) => sql.run('insert into t values ($1, $2)', n, 'a'))
        await assert.rejects(written, StoreUnavailableError)
        return Date.now() - startMs
      })
      await sleep(50)
      assert.equal(await count(), 0n, 'timers and reads go on')
      const [first, , last] = await Promise.all(refusedAfterMs)
      assert.ok(last! < 2 * first!, 'not one after the other')
      other.exec('rollback')
      other.close()
    },
  )

  it('waits for a writer that is done in a moment', { timeout: 600_000 }, async () => {
    const other = new DatabaseSync(opened.file)
    other.exec('begin immediate')
    const written = store.transaction(TEST_SCOPE, (sql) => sql.run('insert into t values ($1, $2)', 1n, 'a'))
    await sleep(100)
    other.exec('rollback')
    other.close()
    assert.equal(await written, 1)
  })
})
