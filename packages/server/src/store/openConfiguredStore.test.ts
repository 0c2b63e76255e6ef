import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startStatementPooler } from '@bezel/testkit/startStatementPooler.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { inspectConfiguredStore, openConfiguredStore, openExistingConfiguredStore } from './openConfiguredStore.ts'
import { openStore } from './openStore.ts'

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

  it('is refused beside a SQLite store, with the name of the command that copies it', async () => {
    const dataFolder = join(folder, 'used')
    await (await openStore(dataFolder)).close()
    const place = { ...placeOf(await server.createDatabase('beside')), dataFolder }
    await assert.rejects(openConfiguredStore(place), /holds a SQLite store.*run bezel-server copy to take it along/)
  })

  it('can be looked at before a start, which refuses the same and changes nothing', async () => {
    const place = placeOf(await server.createDatabase('looked_at'))
    assert.equal(await inspectConfiguredStore(place), 0)
    assert.equal(await server.psql('looked_at', `select count(*) from pg_tables where schemaname = 'public'`), '0\n')
    await (await openConfiguredStore(place)).close()
    assert.equal(await inspectConfiguredStore(place), MIGRATIONS.length)
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
})
