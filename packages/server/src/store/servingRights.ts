import { StartupError } from '@bezel/protocol'
import { SEQUENCE_NAMES } from './ids.ts'
import { canServe, type ContractWait } from './openStore.ts'
import { hasTable, refuseNewer } from './schemaSteps.ts'
import type { Sql } from './sql.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { NODES_TABLE, STEPS_TABLE, TABLES, VERSION_TABLE } from './tables.ts'

/** Rights that the service needs on each table with data. */
const TABLE_RIGHTS: readonly string[] = ['select', 'insert', 'update', 'delete']

/**
 * Throws a `StartupError` unless a user of PostgreSQL who may not change the schema can serve on it: it is up to date,
 * and the user may use everything in it.
 */
export async function requireServingRights(sql: Sql, wait: Pick<ContractWait, 'isDeferred'>): Promise<void> {
  const who = (await sql.get<{ user: string; database: string }>(
    'select current_user as "user", current_database() as database',
  ))!
  const isThere = await hasTable(sql, VERSION_TABLE)
  if (isThere) await requireRights(sql, who.user, [VERSION_TABLE, STEPS_TABLE], ['select'])
  if (isThere) await refuseNewer(sql, MIGRATIONS.length)
  if (!isThere || !(await canServe(sql, wait))) throw new StartupError(notMigrated(who))
  await requireRights(sql, who.user, [...TABLES, NODES_TABLE], TABLE_RIGHTS)
  const kept = await sql.get<{ name: string }>(
    `select name from unnest($1::text[]) as name where not has_sequence_privilege(name, 'usage') limit 1`,
    listOf(SEQUENCE_NAMES),
  )
  if (kept !== undefined) throw new StartupError(noRight(who.user, 'usage', kept.name))
}

async function requireRights(
  sql: Sql,
  user: string,
  tables: readonly string[],
  rights: readonly string[],
): Promise<void> {
  const missing = await sql.get<{ name: string; wanted: string }>(
    `select name, wanted from unnest($1::text[]) as name, unnest($2::text[]) as wanted
     where not has_table_privilege(name, wanted) limit 1`,
    listOf(tables),
    listOf(rights),
  )
  if (missing !== undefined) throw new StartupError(noRight(user, missing.wanted, missing.name))
}

const listOf = (names: readonly string[]): string => `{${names.join(',')}}`

function notMigrated({ user, database }: { readonly user: string; readonly database: string }): string {
  return `The user ${user} of DATABASE_URL may not create tables in the database ${database}, and not all that this version needs are there: run bezel-server migrate with the address of the user who owns them, or make ${user} the owner (alter database ${database} owner to ${user}).`
}

function noRight(user: string, right: string, name: string): string {
  return `The user ${user} of DATABASE_URL has no right to ${right} on ${name}: run deploy/grants.sql as the user who owns the tables.`
}
