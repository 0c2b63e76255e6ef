import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, afterEach, beforeEach } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { openStore, migrate, NewerStoreError } from './openStore.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const scratch = mkdtempSync(join(tmpdir(), 'bezel-open-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('openStore', () => {
  it('makes the folder and the tables, and opens them again', async () => {
    const folder = join(scratch, 'deep', 'data')
    for (const _ of [1, 2]) {
      const store = await openStore(folder)
      assert.deepEqual(await store.read.all('select * from chains'), [])
      await store.close()
    }
  })

  it('refuses a file that is no database, and a folder that is a file', async () => {
    const folder = join(scratch, 'broken')
    const store = await openStore(folder)
    await store.close()
    writeFileSync(join(folder, 'bezel.db'), 'this is no database, but long enough to be taken for one'.repeat(100))
    writeFileSync(join(scratch, 'file'), '')
    for (const bad of [folder, join(scratch, 'file')]) {
      await assert.rejects(openStore(bad), (error: Error) => {
        assert.ok(error instanceof StartupError, error.stack)
        assert.match(
          error.message,
          /^The data (file|folder) .* can't be used \(.*\): set BEZEL_DATA to another folder\.$/,
        )
        return true
      })
    }
  })

  it('refuses data of a newer version', async () => {
    const folder = join(scratch, 'newer')
    const store = await openStore(folder)
    await store.transaction(TEST_SCOPE, (sql) => sql.run('update schema_version set version = 999'))
    await store.close()
    await assert.rejects(openStore(folder), (error: Error) => {
      assert.ok(error instanceof StartupError)
      assert.match(error.message, /newer Bezel \(schema 999/)
      return true
    })
  })
})

describe('migrate', () => {
  const first = { kind: 'expand', statements: ['create table a (n bigint)', 'insert into a values (1)'] } as const
  const second = { kind: 'expand', statements: ['insert into a values (2)'] } as const
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
    await assert.rejects(
      migrate(opened.store, [{ ...first, statements: [...first.statements, 'nonsense'] }]),
      /nonsense/,
    )
    await migrate(opened.store, [first])
    assert.deepEqual(await numbers(), [1n])
  })

  it('refuses a store from the future and says what to do', async () => {
    await migrate(opened.store, [first, second])
    await assert.rejects(migrate(opened.store, [first]), NewerStoreError)
    await assert.rejects(migrate(opened.store, [first]), /set (?:BEZEL_DATA|DATABASE_URL)/)
  })

  it('has migrations that make a schema', async () => {
    await migrate(opened.store)
    assert.deepEqual(await opened.store.read.all('select * from agents'), [])
  })
})
