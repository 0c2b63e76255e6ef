import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, describe, it, afterEach, beforeEach } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { numberCommit } from './commitStore.ts'
import { openExistingStore, openStore, migrate } from './openStore.ts'
import { inspectConfiguredStore } from './openConfiguredStore.ts'
import { NewerStoreError, recordStep } from './schemaSteps.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openNode } from './nodeStore.ts'
import { listOpenPositions } from './positionStore.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const DATA_FOLDER_MODULE = new URL('../../../protocol/src/program/dataFolder.ts', import.meta.url).href

/** Steps of the schema before a service entered itself into its store. */
const STEPS_BEFORE_NODES = 26

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
    await assert.rejects(openExistingStore(folder), /has schema 999 and this Bezel has/)
  })

  it('takes data to which a newer version has only added, also for commands beside it', async () => {
    const folder = join(scratch, 'added')
    const newest = MIGRATIONS.length
    const store = await openStore(folder)
    await store.transaction(TEST_SCOPE, (sql) => recordStep(sql, newest + 1, 'expand'))
    await store.close()
    await (await openStore(folder)).close()
    const beside = await openExistingStore(folder)
    await beside.transaction(TEST_SCOPE, (sql) => recordStep(sql, newest + 2, 'contract'))
    await beside.close()
    await assert.rejects(openStore(folder), /newer Bezel/)
    await assert.rejects(openExistingStore(folder), new RegExp(`has schema ${newest + 2} and this Bezel has`))
  })

  it('waits for nobody: a data folder has one process', async () => {
    const store = await openStore(join(scratch, 'alone'))
    const node = await openNode(store, { version: '1.0.0', onError: (error) => assert.fail(String(error)) })
    const onWait = (sentence: string): never => assert.fail(sentence)
    await migrate(store, [...MIGRATIONS, { kind: 'contract', statements: [] }], { onWait })
    await node.close()
    await store.close()
  })
})

describe('a look at a data folder', () => {
  it('shows the service that runs on it, also one of before, and nothing of one that does not run', async () => {
    const folder = join(scratch, 'looked-at')
    await (await openStore(folder)).close()
    const place = { dataFolder: folder, database: undefined }
    assert.equal(await inspectConfiguredStore(place), undefined)
    // A process has the folder, as the service does; a lock of this process could not be seen by itself.
    const locking = `const { lockService } = await import(${JSON.stringify(DATA_FOLDER_MODULE)})
      lockService(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => undefined, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', locking], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const store = await openStore(folder)
    const node = await openNode(store, { version: '1.0.0', onError: (error) => assert.fail(String(error)) })
    const look = await inspectConfiguredStore(place)
    assert.deepEqual([look?.engine, look?.version, look?.isUsable], ['sqlite', MIGRATIONS.length, true])
    assert.deepEqual(
      look?.nodes.map(({ id, version }) => [id, version]),
      [[node.id, '1.0.0']],
    )
    await node.close()
    await store.transaction(TEST_SCOPE, async (sql) => {
      await sql.run('drop table nodes')
      await sql.run('update schema_version set version = 26')
    })
    assert.deepEqual((await inspectConfiguredStore(place))?.nodes, [])
    child.kill('SIGKILL')
    await once(child, 'exit')
    await store.close()
  })
})

describe('migrate', () => {
  const first = { kind: 'expand', statements: ['create table a (n bigint)', 'insert into a values (1)'] } as const
  const second = { kind: 'expand', statements: ['insert into a values (2)'] } as const
  const CONTRACT = { kind: 'contract', statements: ['delete from a where n = 1'] } as const
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

  it('goes on with a store from the future while it only has more', async () => {
    await migrate(opened.store, [first, second])
    await migrate(opened.store, [first])
    assert.deepEqual(await numbers(), [1n, 2n])
  })

  it('refuses a store from the future that has less, or nobody knows what, and says what to do', async () => {
    await migrate(opened.store, [first, second, CONTRACT])
    for (const known of [[first], [first, second]]) {
      await assert.rejects(migrate(opened.store, known), NewerStoreError)
      await assert.rejects(migrate(opened.store, known), /set (?:BEZEL_DATA|DATABASE_URL)/)
    }
    await migrate(opened.store, [first, second, CONTRACT])
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      await sql.run('update schema_version set version = 4')
      await sql.run('insert into schema_steps (number, kind) values (5, $1)', 'expand')
    })
    await assert.rejects(migrate(opened.store, [first, second, CONTRACT]), NewerStoreError)
  })

  it('knows the kinds of the steps that ran before they were recorded', async () => {
    await migrate(opened.store, [first, CONTRACT])
    await opened.store.transaction(TEST_SCOPE, (sql) => sql.run('drop table schema_steps'))
    await migrate(opened.store, [first, CONTRACT, second])
    const kinds = await opened.store.read.all<{ kind: string }>('select kind from schema_steps order by number')
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['expand', 'contract', 'expand'],
    )
  })

  it('has migrations that make a schema', async () => {
    await migrate(opened.store)
    assert.deepEqual(await opened.store.read.all('select * from agents'), [])
  })

  it('takes a store of before there were nodes along, whose commits are numbered from then on', async () => {
    await migrate(opened.store, MIGRATIONS.slice(0, STEPS_BEFORE_NODES))
    const made = [
      `insert into chain_times (chain, committed_at) values ('base', 5)`,
      `insert into account_logs (id, chain, trader, last_seq, holdings) values (7, 'base', 'a', 3, 'much')`,
      `insert into orders (id, chain, trader, request, created_at, spend_usd) values (1, 'base', 'a', '{}', 1, '0')`,
      `insert into positions (id, chain, trader, origin_order_id, is_open, state) values (2, 'base', 'a', 1, 1, '{}')`,
    ]
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const text of made) await sql.run(text)
    })
    await migrate(opened.store)
    const { read } = opened.store
    const log = await read.get<object>('select id, last_seq, holdings, holdings_block from account_logs')
    assert.deepEqual({ ...log }, { id: 7n, last_seq: 3n, holdings: 'much', holdings_block: null })
    assert.deepEqual(
      (await listOpenPositions(read, 'base')).map(({ record }) => record.id),
      ['2'],
    )
    const given: (number | undefined)[] = []
    await opened.store.transaction(TEST_SCOPE, async (sql) =>
      numberCommit(sql, { chain: 'base', atMs: 4, maxHeldMs: 10, body: () => '{}' }, (number) => given.push(number)),
    )
    assert.deepEqual(given, [1])
    const time = await read.get<object>('select committed_at, commits from chain_times')
    assert.deepEqual({ ...time }, { committed_at: 5n, commits: 1n })
  })
})
