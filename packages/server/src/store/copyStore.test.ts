import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '@bezel/protocol'
import { COPIED_DATABASE_NAME, SERVICE_DATABASE_NAME } from '@bezel/protocol/dataFolder'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { copyStore, type CopyBeginning, type CopyOptions, type CopyReport } from './copyStore.ts'
import { takeIds } from './ids.ts'
import { lockDataFolder } from './lockDataFolder.ts'
import { openConfiguredStore, openExistingConfiguredStore } from './openConfiguredStore.ts'
import { openStore } from './openStore.ts'
import type { Store } from './sql.ts'
import { OWN_TABLES, TABLES, VERSION_TABLE } from './tables.ts'
import { TEST_SCOPE } from './testing/testScope.ts'
import { makeUsedSource } from './testing/usedSource.ts'

const BOUNDS = { connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 }
const ROWS = 5
/** Small parts, so that every table takes several. */
const PART = { rows: 2, chars: 1_000_000 }
/** Parts of a run that is interrupted. */
const PARTS_PER_RUN = 11

describe('the list of tables', () => {
  it('has every table of the schema, each after those that it refers to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bezel-tables-'))
    await (await openStore(folder)).close()
    const database = new DatabaseSync(join(folder, SERVICE_DATABASE_NAME))
    const made = database.prepare(`select name from sqlite_schema where type = 'table'`).all() as { name: string }[]
    const references = database
      .prepare(
        `select child.name as child, parent."table" as parent from sqlite_schema as child, pragma_foreign_key_list(child.name) as parent`,
      )
      .all() as { child: string; parent: string }[]
    const types = database
      .prepare(
        `select distinct lower(of.type) as type from sqlite_schema as made, pragma_table_info(made.name) as of where made.type = 'table'`,
      )
      .all() as { type: string }[]
    database.close()
    rmSync(folder, { recursive: true, force: true })
    assert.deepEqual(
      TABLES.toSorted(),
      made
        .map(({ name }) => name)
        .filter((name) => !OWN_TABLES.includes(name) && !name.startsWith('sqlite_'))
        .toSorted(),
    )
    const early = references.filter(({ child, parent }) => TABLES.indexOf(child) <= TABLES.indexOf(parent))
    assert.deepEqual(early, [])
    assert.deepEqual(types.map(({ type }) => type).toSorted(), ['bigint', 'text'])
  })
})

describe('a copy of a SQLite store', () => {
  let server: RunningPostgres
  let folder: string
  let database: string
  let options: CopyOptions
  const root = mkdtempSync(join(tmpdir(), 'bezel-copy-'))
  let count = 0

  before(async () => {
    installPostgres()
    server = await startPostgres()
  })
  after(async () => {
    await server?.remove()
    rmSync(root, { recursive: true, force: true })
  })
  beforeEach(async () => {
    count += 1
    folder = join(root, `data-${count}`)
    database = `copy_${count}`
    await makeUsedSource(folder, ROWS)
    options = { dataFolder: folder, database: { url: await server.createDatabase(database), ...BOUNDS }, part: PART }
  })

  const place = () => ({ dataFolder: join(root, 'empty'), database: options.database })
  const inTarget = async <Result>(look: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openConfiguredStore(place())
    try {
      return await look(store)
    } finally {
      await store.close()
    }
  }
  const changeSource = (statement: string): void => {
    const source = new DatabaseSync(join(folder, SERVICE_DATABASE_NAME))
    source.exec(statement)
    source.close()
  }
  const refused = (sentence: RegExp, of: Partial<CopyOptions> = {}): Promise<void> =>
    assert.rejects(copyStore({ ...options, ...of }), (error: Error) => {
      assert.ok(error instanceof StartupError, error.stack)
      assert.match(error.message, sentence)
      return true
    })
  const assertWhole = ({ tables, keptAs }: CopyReport): void => {
    assert.deepEqual(
      tables.map(({ table }) => table),
      TABLES,
    )
    for (const { table, source, target, isSame } of tables) {
      assert.deepEqual([table, target, isSame], [table, source, true])
      assert.ok(source.rows > 0n, `${table} has rows`)
    }
    assert.equal(keptAs, join(folder, COPIED_DATABASE_NAME))
    assert.deepEqual([existsSync(keptAs!), existsSync(join(folder, SERVICE_DATABASE_NAME))], [true, false])
  }
  /** Runs copies that end after some parts, as if they were killed there, until one comes to its end. */
  async function copyInRuns(partsPerRun: number): Promise<{ report: CopyReport; beginnings: CopyBeginning[] }> {
    const beginnings: CopyBeginning[] = []
    for (;;) {
      let left = partsPerRun
      const onPart = (): void => {
        if (--left < 0) throw new Error('interrupted')
      }
      try {
        const report = await copyStore({ ...options, onPart, onBegin: (beginning) => void beginnings.push(beginning) })
        return { report, beginnings }
      } catch (error) {
        assert.equal((error as Error).message, 'interrupted')
        await assert.rejects(openConfiguredStore(place()), /holds part of a copy: run bezel-server copy again/)
      }
    }
  }

  it('has every value of every table, puts the old store aside, and gives new ids above the old ones', async () => {
    assertWhole(await copyStore(options))
    const awkward = await server.psql(database, `select count(*) from orders where request like '%𝄞{}%'`)
    assert.equal(awkward, `${ROWS}\n`)
    assert.equal(await server.psql(database, 'select max(due_at) from orders'), `${2n ** 63n - 1n}\n`)
    await inTarget(async (store) => {
      const ids = await store.transaction(TEST_SCOPE, async (sql) => [
        ...(await takeIds(sql, 'orders', 2)),
        ...(await takeIds(sql, 'notices', 1)),
        ...(await takeIds(sql, 'audit', 1)),
        ...(await takeIds(sql, 'accountLogs', 1)),
      ])
      assert.deepEqual(ids, [1000n, 1001n, 1000n, 1000n, BigInt(ROWS + 1)])
    })
    const sentence = /was copied to PostgreSQL.*set DATABASE_URL to that database, or BEZEL_DATA/
    await refused(sentence)
    await assert.rejects(openStore(folder), sentence)
  })

  it('goes on where it was interrupted, at any part, and copies no row twice', async () => {
    const { report, beginnings } = await copyInRuns(PARTS_PER_RUN)
    assertWhole(report)
    assert.deepEqual(new Set(beginnings.slice(1)), new Set(['goes on']))
    assert.ok(beginnings.length > 5, `${beginnings.length} runs`)
  })

  it('begins again when the store was used between two runs', async () => {
    let parts = 0
    const onPart = (): void => {
      if (++parts > 60) throw new Error('interrupted')
    }
    await assert.rejects(copyStore({ ...options, onPart }), /interrupted/)
    changeSource(`update chains set diamond = 'another'; delete from controls`)
    const { report, beginnings } = await copyInRuns(1_000)
    assert.deepEqual(beginnings, ['begins again'])
    assert.ok(report.tables.every(({ isSame }) => isSame))
    assert.equal(await server.psql(database, 'select distinct diamond from chains'), 'another\n')
    assert.equal(await server.psql(database, 'select count(*) from controls'), '0\n')
  })

  it('is compared by what is in the tables, keeps the store when one differs, and then begins again', async () => {
    const damage = [
      `update orders set trader = trader || ' ' where id = 2`,
      `delete from fills where id = 3`,
      `update nonce_floor set up_to = up_to + 1`,
    ]
    const onPart = async ({ table }: { table: string }): Promise<void> => {
      if (table === TABLES.at(-1)) for (const statement of damage.splice(0)) await server.psql(database, statement)
    }
    const { tables, keptAs } = await copyStore({ ...options, onPart })
    assert.deepEqual(
      tables.filter(({ isSame }) => !isSame).map(({ table }) => table),
      ['nonce_floor', 'orders', 'fills'],
    )
    assert.equal(keptAs, undefined)
    await assert.rejects(openConfiguredStore(place()), /holds part of a copy/)
    const { report, beginnings } = await copyInRuns(1_000)
    assert.deepEqual(beginnings, ['begins again'])
    assertWhole(report)
  })

  it('is only compared again when it was complete, and refused when it was used since', async () => {
    await copyStore(options)
    const [aside, at] = [join(folder, COPIED_DATABASE_NAME), join(folder, SERVICE_DATABASE_NAME)]
    renameSync(aside, at)
    const { report, beginnings } = await copyInRuns(0)
    assert.deepEqual(beginnings, ['complete'])
    assertWhole(report)
    renameSync(aside, at)
    await server.psql(database, `update chains set diamond = 'used'`)
    await refused(/was copied from this store before, and one of both was used since/)
    changeSource(`update chains set diamond = 'used, too'`)
    await refused(/was copied from this store before, and one of both was used since/)
    assert.equal(await server.psql(database, 'select distinct diamond from chains'), 'used\n')
  })

  it('is refused while a service has the store, or another program writes it', async () => {
    const lock = lockDataFolder(folder, [])
    await refused(/is in use by another service: stop that one first/)
    lock.release()
    const writer = new DatabaseSync(join(folder, SERVICE_DATABASE_NAME))
    writer.exec('begin immediate')
    await refused(/can't be read alone.*end the program that writes it/)
    writer.close()
    assert.equal(await server.psql(database, `select count(*) from pg_tables where schemaname = 'public'`), '0\n')
    assertWhole(await copyStore(options))
  })

  it('is refused without a store, and with one of another version', async () => {
    await refused(/There is no data in .*nowhere: set BEZEL_DATA/, { dataFolder: join(root, 'nowhere') })
    assert.equal(existsSync(join(root, 'nowhere')), false)
    // A newer version may have added something that this one would not copy.
    changeSource(`insert into schema_steps select version + 1, 'expand' from ${VERSION_TABLE}`)
    changeSource(`update ${VERSION_TABLE} set version = version + 1`)
    await refused(/has schema \d+ and this Bezel has/)
    changeSource(`update ${VERSION_TABLE} set version = 3`)
    await refused(/has schema 3 and this Bezel has/)
  })

  it('takes a database that a start has left empty, and refuses one with other data', async () => {
    await inTarget(async () => undefined)
    assertWhole(await copyStore(options))
    const other = await server.createDatabase(`other_${count}`)
    await makeUsedSource(join(root, 'other'), 1)
    const of = { dataFolder: join(root, 'other'), database: { url: other, ...BOUNDS } }
    await server.psql(`other_${count}`, 'create table theirs (n int)')
    await refused(/holds other data \(in its table theirs\): set DATABASE_URL to an empty database/, of)
    await server.psql(`other_${count}`, `drop table theirs; insert into controls values ('a', 'b', 'c', 'd', 1)`)
    await refused(/holds other data \(in its table controls\)/, of)
    assert.equal(await server.psql(`other_${count}`, 'select count(*) from controls'), '1\n')
    const beside = await openExistingConfiguredStore({ ...of, dataFolder: join(root, 'empty') })
    await beside.close()
  })

  it('says so when a value has no place in PostgreSQL, or the server is gone', async () => {
    changeSource(`update controls set value = 'a' || char(0) || 'b'`)
    await refused(/PostgreSQL does not take a part of the data \(.*\): nothing of it was kept/)
    changeSource(`update controls set value = 'a'`)
    let parts = 0
    const onPart = (): unknown => (++parts === 30 ? server.stop('immediate') : undefined)
    await refused(/PostgreSQL .*: run the same command again, which goes on where it ended/, { onPart })
    await server.start()
    assertWhole(await copyStore(options))
  })
})
