import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { TEST_SCOPE } from './testScope.ts'
import { openTestStore, type TestStore } from './testStore.ts'
import { runTwice } from './twiceStore.ts'

describe('a store that runs transactions twice', () => {
  let opened: TestStore

  before(async () => {
    opened = openTestStore()
    await opened.store.transaction(TEST_SCOPE, (sql) => sql.run('create table t (n bigint not null unique)'))
  })
  after(() => opened.remove())

  it('keeps what the second run stored, and tells of it once', async () => {
    let runs = 0
    const told: string[] = []
    const found = await runTwice(opened.store).transaction(TEST_SCOPE, async (sql) => {
      runs += 1
      const run = runs
      sql.afterCommit(() => told.push(`run ${run}`))
      await sql.run('insert into t values ($1)', 1n)
      return sql.all<{ n: bigint }>('select n from t')
    })
    assert.deepEqual([found.length, told.length], [1, 1])
    assert.equal(told[0], `run ${runs}`)
    assert.equal((await opened.store.read.all('select n from t')).length, 1)
  })

  it('shows work that is not repeatable', async () => {
    let next = 10n
    const inserted = await runTwice(opened.store).transaction(TEST_SCOPE, async (sql) => {
      next += 1n
      await sql.run('insert into t values ($1)', next)
      return next
    })
    assert.notEqual(inserted, 11n)
  })

  // All other tests run so in `npm run test:postgres`.
  it('is as any other to the stories of orders', async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const stories = ['forgetUnsent', 'positionUpdates'].map((name) =>
      fileURLToPath(new URL(`../../orders/${name}.test.ts`, import.meta.url)),
    )
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', ...stories], {
      env: { ...env, TRANSACTIONS_TWICE: '1' },
    })
    assert.match(stdout, /^# pass [1-9]\d$/m)
    assert.match(stdout, /^# fail 0$/m)
  })
})
