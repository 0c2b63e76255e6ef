import { StartupError } from '@bezel/protocol'
import type { Migration } from './migrations/migration.ts'
import type { Sql } from './sql.ts'
import { STEPS_TABLE, VERSION_TABLE } from './tables.ts'

/**
 * Makes the tables that record the schema, where they are missing. The kinds of steps that ran before they were
 * recorded are those of this program's own list.
 */
export async function createStepTables(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  await sql.run(`create table if not exists ${VERSION_TABLE} (version bigint not null)`)
  await sql.run(`create table if not exists ${STEPS_TABLE} (number bigint not null primary key, kind text not null)`)
  const row = await sql.get(`select version from ${VERSION_TABLE}`)
  if (row === undefined) await sql.run(`insert into ${VERSION_TABLE} (version) values (0)`)
  if ((await sql.get(`select number from ${STEPS_TABLE} limit 1`)) !== undefined) return
  const ran = migrations.slice(0, await readVersion(sql))
  for (const [at, { kind }] of ran.entries()) await recordKind(sql, at + 1, kind)
}

/** Records that a step has run, in its transaction. */
export async function recordStep(sql: Sql, number: number, kind: Migration['kind']): Promise<void> {
  await sql.run(`update ${VERSION_TABLE} set version = $1`, number)
  await recordKind(sql, number, kind)
}

async function recordKind(sql: Sql, number: number, kind: Migration['kind']): Promise<void> {
  await sql.run(`insert into ${STEPS_TABLE} (number, kind) values ($1, $2)`, number, kind)
}

/** Reads the version of the schema, which is the number of its last step. Its table must be there. */
export async function readVersion(sql: Sql): Promise<number> {
  const row = await sql.get<{ version: bigint }>(`select version from ${VERSION_TABLE}`)
  return Number(row?.version ?? 0n)
}

/**
 * Returns true when a program whose newest step is `known` can use a schema of this version: it has all steps that the
 * program knows, and those after them only added something.
 */
export async function isUsableVersion(sql: Sql, version: number, known: number): Promise<boolean> {
  if (version <= known) return version === known
  if (!(await hasTable(sql, STEPS_TABLE))) return false
  const row = await sql.get<{ added: bigint }>(
    `select count(*) as added from ${STEPS_TABLE} where number > $1 and number <= $2 and kind = $3`,
    known,
    version,
    'expand',
  )
  return Number(row!.added) === version - known
}

/** Throws a `NewerStoreError` when a newer program has taken away what one that knows `known` steps uses. */
export async function refuseNewer(sql: Sql, known: number): Promise<void> {
  const version = await readVersion(sql)
  if (version <= known || (await isUsableVersion(sql, version, known))) return
  throw new NewerStoreError(
    `The data was last used by a newer Bezel (schema ${version}, this one knows ${known}): start that version, or set ${sql.engine === 'postgres' ? 'DATABASE_URL to another database' : 'BEZEL_DATA to another folder'}.`,
  )
}

/** Returns true when the user of the connection may change the schema. SQLite has no users. */
export async function mayChangeSchema(sql: Sql): Promise<boolean> {
  if (sql.engine === 'sqlite') return true
  const row = await sql.get<{ c: bigint | null }>(`select has_schema_privilege(current_schema(), 'create') as c`)
  return row?.c === 1n
}

/** Returns true when the store has this table. */
export async function hasTable(sql: Sql, name: string): Promise<boolean> {
  const known = await sql.get<{ c: bigint }>(
    sql.engine === 'postgres'
      ? 'select count(to_regclass($1)) as c'
      : `select count(*) as c from sqlite_schema where type = 'table' and name = $1`,
    name,
  )
  return known!.c > 0n
}

/** Thrown when the schema is newer than this version can use. */
export class NewerStoreError extends StartupError {
  override readonly name = 'NewerStoreError'
}
