import type { Sql, Store } from './sql.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

/**
 * Brings the schema up to date: each migration in a transaction of its own, once, in the order of their numbers. Throws when the
 * store was last used by a newer Bezel, whose data this one could not keep.
 */
export async function migrate(store: Store, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  await store.transaction((sql) => createVersionTable(sql))
  const newest = migrations.length
  const current = await readVersion(store.read)
  if (current > newest) {
    throw new NewerStoreError(
      `The data was last used by a newer Bezel (schema ${current}, this one knows ${newest}): start that version, or set BEZEL_DATA to another folder.`,
    )
  }
  for (const [i, migration] of migrations.entries()) {
    if (i + 1 <= current) continue
    await store.transaction(async (sql) => {
      for (const statement of migration.statements) await sql.run(statement)
      await sql.run('update schema_version set version = $1', i + 1)
    })
  }
}

async function createVersionTable(sql: Sql): Promise<void> {
  await sql.run('create table if not exists schema_version (version bigint not null)')
  const row = await sql.get('select version from schema_version')
  if (row === undefined) await sql.run('insert into schema_version (version) values (0)')
}

async function readVersion(sql: Sql): Promise<number> {
  const row = await sql.get<{ version: bigint }>('select version from schema_version')
  return Number(row?.version ?? 0n)
}

/** The schema is from the future. */
export class NewerStoreError extends Error {
  override readonly name = 'NewerStoreError'
}
