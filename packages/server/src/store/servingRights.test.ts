import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { StartupError } from '@bezel/protocol'
import { findPostgres, startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { inspectConfiguredStore, openConfiguredStore, openRestoredStore } from './openConfiguredStore.ts'
import { finishMigrations } from './openStore.ts'
import type { Store } from './sql.ts'
import { OWN_TABLES, TABLES } from './tables.ts'

const GRANTS = fileURLToPath(new URL('../../../../deploy/grants.sql', import.meta.url))
const DATABASE = 'rights'
/** Tables of which the reading user sees nothing. A new table belongs here or among the grants. */
const WITHHELD = ['accepted_structs', 'claim_networks', 'claims', 'commits', 'facade_nonces', 'nonces']
const SCOPE = { name: 'controls' } as const

type User = 'bezel_migrate' | 'bezel_serve' | 'bezel_read'

describe('the users of deploy/grants.sql', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-rights-'))
  let server: RunningPostgres
  let serving: Store
  const opened: Store[] = []

  const placeOf = (user: User, database = DATABASE) => ({
    dataFolder: folder,
    database: {
      url: `postgresql://${user}@127.0.0.1:${server.port}/${database}`,
      connections: 4,
      statementMs: 10_000,
      idleTransactionMs: 10_000,
    },
  })
  const psqlAs = (user: User, ...args: readonly string[]): Promise<string> => psqlIn(DATABASE, user, ...args)
  const psqlIn = async (database: string, user: User, ...args: readonly string[]): Promise<string> => {
    const { url } = placeOf(user, database).database
    const psql = join(findPostgres()!, 'psql')
    return (await promisify(execFile)(psql, ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-d', url, ...args]))
      .stdout
  }
  const open = async (user: User, database?: string): Promise<Store> => {
    const store = await openConfiguredStore(placeOf(user, database), { isDeferred: true })
    opened.push(store)
    return store
  }

  before(async () => {
    installPostgres()
    server = await startPostgres()
    for (const user of ['bezel_migrate', 'bezel_serve', 'bezel_read']) {
      await server.psql('postgres', `create role ${user} login`)
    }
    await server.psql('postgres', `create database ${DATABASE} owner bezel_migrate`)
    await (await openConfiguredStore(placeOf('bezel_migrate'))).close()
    await psqlAs('bezel_migrate', '-f', GRANTS)
    await server.psql(DATABASE, 'create schema other; create table other.secrets as select 1 as n')
    serving = await open('bezel_serve')
  })
  after(async () => {
    for (const store of opened) await store.close()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const isForbidden = (user: User, sql: string): Promise<void> =>
    assert.rejects(psqlAs(user, '-c', sql), /permission denied|must be (?:owner|superuser|member)|must have/, sql)

  it('let the service run: it finds the schema, reads, and writes rows', async () => {
    assert.deepEqual((await inspectConfiguredStore(placeOf('bezel_serve')))?.version, MIGRATIONS.length)
    await serving.transaction(SCOPE, async (sql) => {
      await sql.run(
        `insert into controls (chain, control, subject, value, set_at) values ('base', 'writes', '', '', 1)`,
      )
      assert.equal(await sql.run(`update controls set value = 'x'`), 1)
      assert.equal((await sql.get<{ id: bigint }>(`select nextval('order_ids') as id`))!.id > 0n, true)
      assert.equal(await sql.run('delete from controls'), 1)
    })
  })

  for (const statement of [
    'create table mine (n bigint)',
    'create temp table mine (n bigint)',
    'create schema mine',
    'create index on orders (status)',
    'drop table orders',
    'drop schema public cascade',
    `drop database ${DATABASE}`,
    'alter table orders add column mine text',
    'alter table orders disable trigger all',
    'alter table orders owner to bezel_serve',
    'truncate nonces',
    'create trigger mine before insert on orders for each row execute function suppress_redundant_updates_trigger()',
    'update schema_version set version = 0',
    'delete from schema_version',
    `insert into schema_steps values (999, 'contract')`,
    `select setval('order_ids', 1)`,
    'select * from other.secrets',
    'select * from pg_authid',
    `select pg_read_file('/etc/hostname')`,
    `copy (select 1) to program 'true'`,
    'create role mine superuser',
    'set role bezel_migrate',
    'alter system set fsync = off',
  ]) {
    it(`do not let the service do more: ${statement}`, () => isForbidden('bezel_serve', statement))
  }

  for (const statement of [
    `insert into controls (chain, control, subject, value, set_at) values ('base', 'writes', '', '', 1)`,
    'update orders set status = status',
    'delete from orders',
    'truncate orders',
    `select nextval('order_ids')`,
    'create temp table mine (n bigint)',
    'select key_hash from api_keys',
    'select * from api_keys',
    'select caller_ip from audit_log',
    'select raw from relay_versions',
    'select * from other.secrets',
    ...WITHHELD.map((table) => `select * from ${table}`),
  ]) {
    it(`do not let the reader write, or read secrets: ${statement}`, () => isForbidden('bezel_read', statement))
  }

  it('let the reader read all other tables', async () => {
    const readable = await psqlAs(
      'bezel_read',
      '-c',
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and has_any_column_privilege(oid, 'select')`,
    )
    const expected = [...TABLES, ...OWN_TABLES].filter((table) => !WITHHELD.includes(table))
    assert.deepEqual(readable.trim().split('\n').toSorted(), expected.toSorted())
    assert.equal(await psqlAs('bezel_read', '-c', 'select count(label) from api_keys'), '0\n')
  })

  it('give the service the tables of a later step from the moment they are made', async () => {
    await psqlAs('bezel_migrate', '-c', 'create table later (n bigint); create sequence later_ids')
    assert.equal(
      await serving.transaction(SCOPE, (sql) => sql.run(`insert into later values (nextval('later_ids'))`)),
      1,
    )
    await isForbidden('bezel_read', 'select * from later')
    await psqlAs('bezel_migrate', '-c', 'drop table later; drop sequence later_ids')
  })

  it('may be given again while the service runs', async () => {
    await psqlAs('bezel_migrate', '-f', GRANTS)
    assert.equal(await serving.transaction(SCOPE, (sql) => sql.run('delete from controls')), 0)
  })

  it('can be given to a database that had one user until now', async () => {
    await server.psql('postgres', 'create role single login')
    await server.psql('postgres', 'create database shared owner single')
    const place = placeOf('bezel_migrate', 'shared')
    const url = place.database.url.replace('bezel_migrate', 'single')
    await (await openConfiguredStore({ ...place, database: { ...place.database, url } })).close()
    await server.psql('shared', 'reassign owned by single to bezel_migrate')
    await psqlIn('shared', 'bezel_migrate', '-f', GRANTS)
    await open('bezel_serve', 'shared')
  })

  it('leave steps that take something away to bezel-server migrate', async () => {
    const later = [...MIGRATIONS, { kind: 'contract', statements: ['select 1'] }] as const
    assert.equal(await finishMigrations(serving, assert.ifError, later), undefined)
  })

  const refuses = (opening: Promise<unknown>, sentence: RegExp): Promise<void> =>
    assert.rejects(opening, (error: Error) => {
      assert.ok(error instanceof StartupError, String(error))
      assert.match(error.message, sentence)
      return true
    })

  it('are refused in one sentence where the tables are missing, or a right', async () => {
    await server.psql('postgres', 'create database empty owner bezel_migrate')
    const empty = /^The user bezel_serve .* not create tables in the database empty, .*: run bezel-server migrate .*\.$/
    await refuses(openConfiguredStore(placeOf('bezel_serve', 'empty')), empty)
    await refuses(inspectConfiguredStore(placeOf('bezel_serve', 'empty')), empty)
    await refuses(
      open('bezel_read'),
      /^The user bezel_read .* no right to \w+ on \w+: run deploy\/grants\.sql as .*\.$/,
    )
    await psqlAs('bezel_migrate', '-c', 'revoke update on orders from bezel_serve')
    await refuses(open('bezel_serve'), /^The user bezel_serve .* has no right to update on orders: run deploy\/grants/)
    await psqlAs('bezel_migrate', '-c', 'grant update on orders to bezel_serve')
    await psqlAs('bezel_migrate', '-c', 'revoke usage on sequence order_ids from bezel_serve')
    await refuses(open('bezel_serve'), /^The user bezel_serve .* no right to usage on order_ids: run deploy\/grants/)
    await psqlAs('bezel_migrate', '-c', 'grant usage on sequence order_ids to bezel_serve')
  })

  it('are refused in one sentence where a command needs the owner', async () => {
    const sentence =
      /^The user bezel_serve .* may not do this in .* \(permission denied.*\): use the address of the user .*\.$/
    await refuses(openRestoredStore(placeOf('bezel_serve'), {}), sentence)
  })
})
