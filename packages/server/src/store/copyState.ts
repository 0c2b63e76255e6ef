import { StartupError } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/**
 * The state of a copy from SQLite, kept in the database that it fills. The service refuses a database whose copy has
 * not ended.
 */
export interface CopyState {
  /** Digest of everything in the source when the copy began. */
  readonly source: string
  readonly isComplete: boolean
}

/** Reads the state of the copy that filled a database; `undefined` where there was none. */
export async function readCopyState(sql: Sql): Promise<CopyState | undefined> {
  const known = await sql.get<{ c: bigint }>(`select count(to_regclass('copy_state')) as c`)
  if (known!.c === 0n) return undefined
  const row = await sql.get<{ source: string; is_complete: bigint }>('select source, is_complete from copy_state')
  return row === undefined ? undefined : { source: row.source, isComplete: row.is_complete === 1n }
}

/** Throws a `StartupError` for a database that a copy has filled only in part. */
export async function refuseHalfCopy(sql: Sql): Promise<void> {
  const state = await readCopyState(sql)
  if (state === undefined || state.isComplete) return
  throw new StartupError(
    'The database of DATABASE_URL holds part of a copy: run bezel-server copy again, which goes on where it ended.',
  )
}

/** Begins a copy of these tables, in the transaction that empties them. */
export async function beginCopyState(sql: Sql, source: string, tables: readonly string[]): Promise<void> {
  await sql.run('drop table if exists copy_state, copy_progress')
  await sql.run('create table copy_state (source text not null, is_complete bigint not null)')
  await sql.run('insert into copy_state (source, is_complete) values ($1, 0)', source)
  await sql.run(
    `create table copy_progress (
      name text not null primary key,
      rows bigint not null,
      last_key text,
      is_done bigint not null
    )`,
  )
  for (const table of tables) {
    await sql.run('insert into copy_progress (name, rows, is_done) values ($1, 0, 0)', table)
  }
}

/** Ends a copy that was compared with its source. */
export async function endCopyState(sql: Sql): Promise<void> {
  await sql.run('update copy_state set is_complete = 1')
  await sql.run('drop table if exists copy_progress')
}

/** Makes the next run begin again, because the copy differs from its source. */
export async function spoilCopyState(sql: Sql): Promise<void> {
  await sql.run(`update copy_state set source = ''`)
}

/** The part of a table that is copied. */
export interface TableProgress {
  readonly rows: number
  /** The key of the last copied row as JSON text; `null` before the first. */
  readonly lastKey: string | null
  readonly isDone: boolean
}

/** Reads how far a table was copied. */
export async function readCopyProgress(sql: Sql, table: string): Promise<TableProgress> {
  const row = await sql.get<{ rows: bigint; last_key: string | null; is_done: bigint }>(
    'select rows, last_key, is_done from copy_progress where name = $1',
    table,
  )
  return { rows: Number(row!.rows), lastKey: row!.last_key, isDone: row!.is_done === 1n }
}

/**
 * Notes in the transaction of a part that it is copied. Throws a `StartupError` when another process has moved the
 * table on since `before` was read.
 */
export async function moveCopyProgress(
  sql: Sql,
  table: string,
  { before, after }: { readonly before: TableProgress; readonly after: TableProgress },
): Promise<void> {
  const changed = await sql.run(
    `update copy_progress set rows = $2, last_key = $3, is_done = $4
     where name = $1 and rows = $5 and coalesce(last_key, '') = $6 and is_done = 0`,
    table,
    after.rows,
    after.lastKey,
    after.isDone ? 1n : 0n,
    before.rows,
    before.lastKey ?? '',
  )
  if (changed === 1) return
  throw new StartupError('Another bezel-server copy fills the database of DATABASE_URL at the moment: let it end.')
}
