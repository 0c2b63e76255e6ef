import { StoreUnavailableError } from '../ground/unavailable.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '@bezel/protocol'
import { COPIED_DATABASE_NAME, makePrivateFolder, SERVICE_DATABASE_NAME } from '@bezel/protocol/dataFolder'
import { createSequences } from './ids.ts'
import type { Store, Sql } from './sql.ts'
import { openSqlite } from './sqlite.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

/**
 * Opens the store in the data folder and brings its schema up to date. Throws a `StartupError` when it can't be used.
 */
export async function openStore(dataFolder: string): Promise<Store> {
  const file = join(dataFolder, SERVICE_DATABASE_NAME)
  refuseCopied(dataFolder)
  let store: Store | undefined
  try {
    makePrivateFolder(dataFolder)
    store = openSqlite(file)
    await migrate(store)
    return store
  } catch (error) {
    await store?.close()
    throw startupErrorOf(error, file)
  }
}

/**
 * Opens the store of a service that may be running, for a command beside it. Changes no schema. Throws a `StartupError`
 * when there is no store, or not one of this version.
 */
export async function openExistingStore(dataFolder: string): Promise<Store> {
  const file = join(dataFolder, SERVICE_DATABASE_NAME)
  refuseNoStore(dataFolder)
  let store: Store | undefined
  try {
    store = openSqlite(file)
    await refuseOtherVersion(store, dataFolder)
    return store
  } catch (error) {
    await store?.close()
    throw startupErrorOf(error, file)
  }
}

/**
 * Throws a `StartupError` for a folder whose data was moved to PostgreSQL: whoever goes on without it begins with
 * nothing, and whoever goes on with the old data does everything again that was done since.
 */
export function refuseCopied(dataFolder: string): void {
  if (existsSync(join(dataFolder, SERVICE_DATABASE_NAME))) return
  if (!existsSync(join(dataFolder, COPIED_DATABASE_NAME))) return
  throw new StartupError(
    `The data in ${dataFolder} was copied to PostgreSQL (${COPIED_DATABASE_NAME} is what it was): set DATABASE_URL to that database, or BEZEL_DATA to another folder.`,
  )
}

/** Throws a `StartupError` for a folder without a store. */
export function refuseNoStore(dataFolder: string): void {
  refuseCopied(dataFolder)
  if (existsSync(join(dataFolder, SERVICE_DATABASE_NAME))) return
  throw new StartupError(`There is no data in ${dataFolder}: set BEZEL_DATA to the folder of the service.`)
}

/** Throws a `StartupError` when the schema of a store is not the one of this version. */
export async function refuseOtherVersion(store: Store, place: string): Promise<void> {
  const version = await readVersion(store.read)
  if (version === MIGRATIONS.length) return
  throw new StartupError(
    `The data in ${place} has schema ${version} and this Bezel has ${MIGRATIONS.length}: use the version that the service runs.`,
  )
}

function startupErrorOf(error: unknown, file: string): unknown {
  if (error instanceof NewerStoreError) return new StartupError(error.message)
  const { code, errcode, message } = error as { code?: string; errcode?: number; message: string }
  const isOutside = error instanceof StoreUnavailableError || errcode !== undefined || code?.startsWith('E')
  if (!isOutside) return error
  return new StartupError(`The data file ${file} can't be used (${message}): set BEZEL_DATA to another folder.`)
}

const SCHEMA = { name: 'schema' } as const

/**
 * Brings the schema up to date: runs each new migration once, in order, in a transaction of its own, which reads the
 * version first, because another node may have started at the same time. Throws when a newer Bezel has used the store,
 * whose data this one could not preserve.
 */
export async function migrate(store: Store, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  await store.transaction(SCHEMA, (sql) => createVersionTable(sql))
  while (await store.transaction(SCHEMA, (sql) => migrateOnce(sql, migrations)));
  if (store.read.engine === 'postgres') await store.transaction(SCHEMA, createSequences)
}

/** Runs the next migration. Returns false when there is none. */
async function migrateOnce(sql: Sql, migrations: readonly Migration[]): Promise<boolean> {
  const current = await readVersion(sql)
  const newest = migrations.length
  if (current > newest) {
    throw new NewerStoreError(
      `The data was last used by a newer Bezel (schema ${current}, this one knows ${newest}): start that version, or set ${sql.engine === 'postgres' ? 'DATABASE_URL to another database' : 'BEZEL_DATA to another folder'}.`,
    )
  }
  const migration = migrations[current]
  if (migration === undefined) return false
  for (const statement of migration.statements) await sql.run(statement)
  await sql.run('update schema_version set version = $1', current + 1)
  return true
}

async function createVersionTable(sql: Sql): Promise<void> {
  await sql.run('create table if not exists schema_version (version bigint not null)')
  const row = await sql.get('select version from schema_version')
  if (row === undefined) await sql.run('insert into schema_version (version) values (0)')
}

/** Reads the version of the schema. Its table must be there. */
export async function readVersion(sql: Sql): Promise<number> {
  const row = await sql.get<{ version: bigint }>('select version from schema_version')
  return Number(row?.version ?? 0n)
}

/** Thrown when the schema is newer than this version knows. */
export class NewerStoreError extends Error {
  override readonly name = 'NewerStoreError'
}
