import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { until } from '@bezel/testkit/until.ts'
import { startProxy } from '@bezel/testkit/startProxy.ts'
import { startStatementPooler } from '@bezel/testkit/startStatementPooler.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import type { DataPlace } from '../settings/dataPlace.ts'
import { takeIds } from './ids.ts'
import { MIGRATIONS } from './migrations/index.ts'
import {
  inspectConfiguredStore,
  openConfiguredStore,
  openDatabase,
  openExistingConfiguredStore,
} from './openConfiguredStore.ts'
import { openNode } from './nodeStore.ts'
import { finishMigrations, migrate, openStore } from './openStore.ts'
import { openPostgres } from './postgres.ts'
import type { Store } from './sql.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const NEWEST = MIGRATIONS.length
const LOOK = { engine: 'postgres', version: NEWEST, isUsable: true, nodes: [] } as const
const BOUNDS = { connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 }

describe('the store that the settings name, on PostgreSQL', () => {
  let server: RunningPostgres
  const folder = mkdtempSync(join(tmpdir(), 'bezel-configured-'))

  before(async () => {
    installPostgres()
    server = await startPostgres()
  })
  after(async () => {
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const placeOf = (url: string) => ({ dataFolder: folder, database: { url, ...BOUNDS } })

  async function assertRefused(url: string, sentence: RegExp): Promise<void> {
    await assert.rejects(openConfiguredStore(placeOf(url)), (error: Error) => {
      assert.ok(error instanceof StartupError, error.stack)
      assert.match(error.message, sentence)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  }

  it('gets its tables once, also when two nodes start on an empty database', async () => {
    const place = placeOf(await server.createDatabase('two_nodes'))
    const stores = await Promise.all([openConfiguredStore(place), openConfiguredStore(place)])
    for (const store of stores) {
      const row = await store.read.get<{ version: bigint }>('select version from schema_version')
      assert.equal(row!.version, BigInt(MIGRATIONS.length))
      await store.close()
    }
    const beside = await openExistingConfiguredStore(place)
    assert.deepEqual(await beside.read.all('select * from agents'), [])
    await beside.close()
  })

  it('gives no id twice, however often it is opened', async () => {
    const place = placeOf(await server.createDatabase('ids'))
    const taken: bigint[][] = []
    for (let start = 0; start < 3; start += 1) {
      const store = await openConfiguredStore(place)
      taken.push(
        await store.transaction(TEST_SCOPE, async (sql) => [
          ...(await takeIds(sql, 'orders', 1)),
          ...(await takeIds(sql, 'notices', 1)),
          ...(await takeIds(sql, 'audit', 1)),
          ...(await takeIds(sql, 'accountLogs', 1)),
        ]),
      )
      await store.close()
    }
    assert.deepEqual(taken, [
      [1n, 1n, 1n, 1n],
      [2n, 2n, 2n, 2n],
      [3n, 3n, 3n, 3n],
    ])
  })

  it('is refused beside a SQLite store, with the name of the command that copies it', async () => {
    const dataFolder = join(folder, 'used')
    await (await openStore(dataFolder)).close()
    const place = { ...placeOf(await server.createDatabase('beside')), dataFolder }
    await assert.rejects(openConfiguredStore(place), /holds a SQLite store.*run bezel-server copy to take it along/)
  })

  /** Looks at a store whose clock is this machine's. */
  async function look(place: DataPlace): Promise<unknown> {
    const { clockAheadMs, ...rest } = (await inspectConfiguredStore(place))!
    assert.equal(typeof clockAheadMs, 'number')
    return rest
  }

  it('can be looked at before a start, which refuses the same and changes nothing', async () => {
    const place = placeOf(await server.createDatabase('looked_at'))
    assert.deepEqual(await look(place), { ...LOOK, version: 0 })
    assert.equal(await server.psql('looked_at', `select count(*) from pg_tables where schemaname = 'public'`), '0\n')
    await (await openConfiguredStore(place)).close()
    assert.deepEqual(await look(place), LOOK)
    const added = `update schema_version set version = version + 1; insert into schema_steps values (${NEWEST} + 1, 'expand')`
    await server.psql('looked_at', added)
    assert.deepEqual(await look(place), { ...LOOK, version: NEWEST + 1 })
    await server.psql('looked_at', `update schema_steps set kind = 'contract' where number = ${NEWEST} + 1`)
    assert.deepEqual(await look(place), { ...LOOK, version: NEWEST + 1, isUsable: false })
    assert.equal(await inspectConfiguredStore({ ...place, database: undefined }), undefined)
    await assert.rejects(
      inspectConfiguredStore({ ...place, dataFolder: join(folder, 'used') }),
      /run bezel-server copy/,
    )
    await assert.rejects(inspectConfiguredStore(placeOf(server.urlOf('nowhere'))), /There is no database nowhere/)
  })

  it('is refused in one sentence when the address is wrong', async () => {
    for (const text of ['nonsense', 'http://secret@127.0.0.1/x', `postgresql://secret@127.0.0.1:${server.port}`]) {
      await assertRefused(text, /^DATABASE_URL is no address of a PostgreSQL database: write postgresql:/)
    }
    for (const password of ['12/secret', 'secret/12', '12#secret', '12?secret']) {
      await assertRefused(
        `postgresql://bezel:${password}@127.0.0.1:9/bezel`,
        /^DATABASE_URL is no address .* with %2F /,
      )
    }
    await assertRefused(server.urlOf('nowhere'), /^There is no database nowhere at .*createdb/)
    const stranger = `postgresql://stranger:secret@127.0.0.1:${server.port}/postgres`
    await assertRefused(stranger, /refuses the user stranger of DATABASE_URL/)
    await assertRefused('postgresql://bezel:secret@127.0.0.1:9/bezel', /can't be used \(.*ECONNREFUSED.*\): start it/)
  })

  it('is refused in one sentence when the server accepts and does not answer', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
    const { port } = silent.address() as AddressInfo
    await assertRefused(`postgresql://bezel:secret@127.0.0.1:${port}/bezel`, /can't be used \(.*timeout.*\): start it/)
    silent.close()
  })

  it('is asked again when a server that restarts has ended a statement', async () => {
    const proxy = await startProxy(server.port)
    await server.createDatabase('restarted')
    let openings = 0
    const { database } = placeOf(server.urlOf('restarted', proxy.port))
    const store = await openDatabase(database, async ({ read }) => {
      openings += 1
      const asked = read.get('select pg_sleep($1)', openings === 1 ? 600 : 0)
      if (openings === 1) proxy.cut()
      await asked
    })
    assert.equal(openings, 2)
    await store.close()
    await proxy.close()
  })

  it('is refused in one sentence when its user may not create tables', async () => {
    await server.createDatabase('no_rights')
    await server.psql('no_rights', 'create role reader login')
    const url = `postgresql://reader:secret@127.0.0.1:${server.port}/no_rights`
    await assertRefused(url, /^The user reader of DATABASE_URL may not create tables in the database no_rights/)
  })

  it('is refused in one sentence behind a pooler that gives every statement another session', async () => {
    await server.createDatabase('pooled')
    const pooler = await startStatementPooler(server.port)
    await assertRefused(
      server.urlOf('pooled', pooler.port),
      /^The pooler of DATABASE_URL gives every statement another/,
    )
    await pooler.close()
  })

  it('is refused in one sentence when text is not sorted by its bytes', async () => {
    await server.psql(
      'postgres',
      `create database sorted template template0 locale_provider icu icu_locale 'en-US' encoding 'UTF8'`,
    )
    await assertRefused(server.urlOf('sorted'), /does not sort text by its bytes: create it with createdb.*--locale=C/)
  })

  it('is refused in one sentence when a newer version has used it', async () => {
    const url = await server.createDatabase('newer')
    await (await openConfiguredStore(placeOf(url))).close()
    await server.psql('newer', 'update schema_version set version = 999')
    await assertRefused(url, /newer Bezel \(schema 999.*set DATABASE_URL to another database/)
    await assert.rejects(openExistingConfiguredStore(placeOf(url)), /has schema 999/)
  })

  describe('before a step that takes something away', () => {
    const MORE = { kind: 'expand', statements: ['create table more (n bigint)'] } as const
    const LESS = { kind: 'contract', statements: ['drop table more'] } as const
    const next = [...MIGRATIONS, MORE, LESS]
    const onError = (error: unknown): never => assert.fail(String(error))
    let store: Store
    let database: string
    let count = 0

    beforeEach(async () => {
      database = `contract_${++count}`
      store = await openConfiguredStore(placeOf(await server.createDatabase(database)))
    })
    afterEach(() => store.close())

    const versionOf = async (): Promise<number> =>
      Number(await server.psql(database, 'select version from schema_version'))

    it('waits for the older nodes, says which, and goes on by itself when they are gone', async () => {
      const nodes = [
        await openNode(store, { version: '1.0.0', onError }),
        await openNode(store, { version: '1.0.1', onError }),
      ]
      const told: string[] = []
      const waits = Promise.withResolvers<void>()
      const migrated = migrate(store, next, {
        onWait: (sentence) => {
          told.push(sentence)
          waits.resolve()
        },
        pauseMs: 1,
        maxLooks: Number.MAX_SAFE_INTEGER,
      })
      await waits.promise
      assert.equal(await versionOf(), NEWEST + 1, 'what only adds did not wait')
      await nodes[0]!.close()
      const looks = await server.psql(database, 'select count(*) from nodes')
      assert.deepEqual([looks.trim(), await versionOf()], ['1', NEWEST + 1])
      await nodes[1]!.close()
      await migrated
      assert.equal(await versionOf(), NEWEST + 2)
      assert.equal(told.length, 1)
      for (const [at, version] of ['1.0.0', '1.0.1'].entries()) {
        assert.ok(told[0]!.includes(`${nodes[at]!.id} (version ${version})`), told[0])
      }
    })

    it('gives up after some looks, in a sentence that says what to do', async () => {
      const node = await openNode(store, { version: '1.0.0', onError })
      await assert.rejects(migrate(store, next, { pauseMs: 1, maxLooks: 3 }), (error: Error) => {
        assert.ok(error instanceof StartupError)
        assert.match(error.message, /still run on the data: .*\(version 1\.0\.0\).*stop them, then start it again\.$/)
        return true
      })
      assert.equal(await versionOf(), NEWEST + 1)
      await node.close()
    })

    it('is left for later by a service, which takes it away when the older nodes are gone', async () => {
      const node = await openNode(store, { version: '1.0.0', onError })
      assert.equal(await migrate(store, next, { isDeferred: true }), false)
      assert.equal(await versionOf(), NEWEST + 1)
      const rest = await finishMigrations(store, onError, next, 1)
      await node.close()
      await until('it has run', async () => (await versionOf()) === NEWEST + 2)
      await rest!.close()
      assert.equal(await finishMigrations(store, onError, next, 1), undefined)
    })

    it('is waited for by a service that needs a step after it', async () => {
      const node = await openNode(store, { version: '1.0.0', onError })
      const wait = { isDeferred: true, pauseMs: 1, maxLooks: 3 }
      await assert.rejects(migrate(store, [...next, MORE], wait), /still run on the data/)
      await node.close()
    })

    it('does not hold up requests behind a table that is in use', async () => {
      const beside = openPostgres({ url: server.urlOf(database), ...BOUNDS })
      const [reads, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const using = beside.transaction({ name: 'controls' }, async (sql) => {
        await sql.all('select id from orders')
        reads.resolve()
        await may.promise
      })
      await reads.promise
      const change = { kind: 'expand', statements: ['alter table orders add column desk text'] } as const
      const migrated = migrate(store, [...MIGRATIONS, change])
      const isWaiting = async (): Promise<boolean> =>
        (await server.psql(database, 'select count(*) from pg_locks where not granted')).trim() === '1'
      await until('the step waits', isWaiting)
      // Were it to wait until the table is free, nobody else could read it.
      assert.deepEqual(await beside.read.all('select id from orders'), [])
      assert.equal(await versionOf(), NEWEST)
      may.resolve()
      await Promise.all([using, migrated])
      assert.equal(await versionOf(), NEWEST + 1)
      await beside.close()
    })

    it('does not wait for nodes that are gone without a word, nor for those that know the step', async () => {
      const [dead, other] = [
        await openNode(store, { version: '1.0.0', onError, signMs: 1_000_000 }),
        await openNode(store, { version: '2.0.0', onError, signMs: 1_000_000 }),
      ]
      await server.psql(database, `update nodes set seen_at = seen_at - 10001 where id = '${dead.id}'`)
      await server.psql(database, `update nodes set schema_number = ${NEWEST + 2} where id = '${other.id}'`)
      await migrate(store, next, { onWait: (sentence) => assert.fail(sentence) })
      assert.equal(await versionOf(), NEWEST + 2)
      await assert.rejects(openNode(store, { version: '1.0.0', onError }), /newer Bezel/)
    })

    it('waits for a node that has looked at the schema and is about to enter itself', async () => {
      const beside = openPostgres({ url: server.urlOf(database), ...BOUNDS })
      const [locked, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const holding = beside.transaction({ name: 'controls' }, async (sql) => {
        await sql.run('lock table nodes in exclusive mode')
        locked.resolve()
        await may.promise
      })
      await locked.promise
      const waiting = async (): Promise<number> =>
        Number(await server.psql(database, 'select count(*) from pg_locks where not granted'))
      const entered = openNode(beside, { version: '1.0.0', onError })
      await until('it can not enter itself yet', async () => (await waiting()) === 1)
      const told: string[] = []
      let isMigrated = false
      const wait = { onWait: (sentence: string) => void told.push(sentence), pauseMs: 1, maxLooks: 2 }
      const migrated = migrate(store, next, wait).finally(() => (isMigrated = true))
      await until('the step waits too', async () => isMigrated || (await waiting()) === 2)
      may.resolve()
      await assert.rejects(migrated, /still run on the data/)
      assert.equal(told.length, 1)
      await Promise.all([holding, entered.then((node) => node.close())])
      await beside.close()
    })
  })
})
