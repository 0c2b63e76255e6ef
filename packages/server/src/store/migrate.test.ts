import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { migrate, NewerStoreError } from './migrate.ts'
import { openTestStore, type TestStore } from './testStore.ts'

describe('migrate', () => {
  const first = { statements: ['create table a (n bigint)', 'insert into a values (1)'] }
  const second = { statements: ['insert into a values (2)'] }
  let opened: TestStore

  beforeEach(() => {
    opened = openTestStore()
  })
  afterEach(() => opened.remove())

  const numbers = async (): Promise<bigint[]> =>
    (await opened.store.read.all<{ n: bigint }>('select n from a order by n')).map(({ n }) => n)

  it('runs each migration once, in order', async () => {
    await migrate(opened.store, [first])
    await migrate(opened.store, [first, second])
    await migrate(opened.store, [first, second])
    assert.deepEqual(await numbers(), [1n, 2n])
  })

  it('keeps nothing of a migration that fails, and tries it again', async () => {
    await assert.rejects(migrate(opened.store, [{ statements: [...first.statements, 'nonsense'] }]), /nonsense/)
    await migrate(opened.store, [first])
    assert.deepEqual(await numbers(), [1n])
  })

  it('refuses a store from the future and says what to do', async () => {
    await migrate(opened.store, [first, second])
    await assert.rejects(migrate(opened.store, [first]), NewerStoreError)
    await assert.rejects(migrate(opened.store, [first]), /set BEZEL_DATA/)
  })

  it('has migrations that make a schema', async () => {
    await migrate(opened.store)
    assert.deepEqual(await opened.store.read.all('select * from agents'), [])
  })
})
