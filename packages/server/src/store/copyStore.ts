import { DatabaseError } from 'pg'
import { StartupError } from '@bezel/protocol'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { DatabaseSettings } from '../settings/dataPlace.ts'
import { openCopySource, putAside, type CopySource, type PartBounds, type SourceTable } from './copySource.ts'
import {
  beginCopyState,
  endCopyState,
  moveCopyProgress,
  readCopyProgress,
  readCopyState,
  spoilCopyState,
} from './copyState.ts'
import { createSequences } from './ids.ts'
import { lockDataFolder } from './lockDataFolder.ts'
import { openDatabase } from './openConfiguredStore.ts'
import { migrate, openExistingStore, requireSameVersion } from './openStore.ts'
import type { Sql, Store } from './sql.ts'
import { OWN_TABLES, TABLES } from './tables.ts'
import { isSameSum, sumPostgresTable, type TableSum } from './tableSums.ts'

/** Bounds of a part, which is one transaction and one message. */
const PART: PartBounds = { rows: 2_000, chars: 4_000_000 }

/** Migrations, and whatever else needs the database for itself and as long as it takes. */
const SCHEMA = { name: 'schema' } as const

/** Tables that have a row before their first use. */
const SEEDED: ReadonlySet<string> = new Set([
  'id_sequence',
  'notice_sequence',
  'audit_ids',
  'facade_nonce_floor',
  'nonce_floor',
  'nonce_keeper',
])

/** A table that was copied, with what was counted on both sides. */
export interface CopiedTable {
  readonly table: string
  readonly source: TableSum
  readonly target: TableSum
  readonly isSame: boolean
}

export interface CopyReport {
  readonly tables: readonly CopiedTable[]
  /** The path of the source after the copy; `undefined` when the copy differs, and the source stays as it was. */
  readonly keptAs: string | undefined
}

/** The beginning of a run: a new copy, one that goes on, one that begins again, or one that only has to be compared. */
export type CopyBeginning = 'new' | 'goes on' | 'begins again' | 'complete'

/** The rows of a table that are copied, of all that it has. */
interface CopyProgress {
  readonly table: string
  readonly rows: number
  readonly of: bigint
}

export interface CopyOptions {
  /** Absolute path of the folder with the SQLite store. */
  readonly dataFolder: string
  readonly database: DatabaseSettings
  readonly onBegin?: (beginning: CopyBeginning) => void
  /** Called after each part that is committed, and waited for. */
  readonly onPart?: (at: CopyProgress) => unknown
  readonly part?: PartBounds
}

/**
 * Copies the SQLite store of a folder into an empty database of PostgreSQL, and compares both. Safe to end and to run
 * again at any moment: it goes on where it stood, and begins again when the source has changed. Throws a `StartupError`
 * for a source that is in use, and for a database with other data.
 */
export async function copyStore(options: CopyOptions): Promise<CopyReport> {
  const { dataFolder } = options
  const existing = await openExistingStore(dataFolder)
  await requireSameVersion(existing, dataFolder).finally(() => existing.close())
  const lock = lockDataFolder(dataFolder, [])
  try {
    const source = openCopySource(dataFolder)
    let tables: readonly CopiedTable[]
    try {
      const target = await openDatabase(options.database, async (store) => void (await migrate(store)))
      try {
        tables = await fill(target, source, options)
      } finally {
        await target.close()
      }
    } finally {
      source.close()
    }
    return { tables, keptAs: tables.every(({ isSame }) => isSame) ? putAside(dataFolder) : undefined }
  } catch (error) {
    throw toldError(error)
  } finally {
    lock.release()
  }
}

async function fill(target: Store, source: CopySource, options: CopyOptions): Promise<readonly CopiedTable[]> {
  const beginning = await target.transaction(SCHEMA, (sql) => begin(sql, source.digest))
  options.onBegin?.(beginning)
  if (beginning !== 'complete') {
    for (const name of TABLES) await copyTable(target, source, source.readTable(name), options)
    await target.transaction(SCHEMA, createSequences)
    // Without it the first questions would be planned as for empty tables.
    await target.transaction(SCHEMA, (sql) => sql.run('analyze'))
  }
  const tables = await target.transaction(SCHEMA, (sql) => compare(sql, source))
  const isSame = tables.every((table) => table.isSame)
  if (isSame) await target.transaction(SCHEMA, endCopyState)
  else if (beginning === 'complete') throw new StartupError(USED_SINCE)
  else await target.transaction(SCHEMA, spoilCopyState)
  return tables
}

const USED_SINCE =
  'The database of DATABASE_URL was copied from this store before, and one of both was used since: set DATABASE_URL to an empty database, or start the service on the copy with BEZEL_DATA set to another folder.'

/** Prepares the target for the source of this digest, in one transaction. */
async function begin(sql: Sql, digest: string): Promise<CopyBeginning> {
  const state = await readCopyState(sql)
  if (state?.isComplete === true) {
    if (state.source === digest) return 'complete'
    throw new StartupError(USED_SINCE)
  }
  if (state?.source === digest) return 'goes on'
  if (state === undefined) await refuseOtherData(sql)
  await sql.run(`truncate ${TABLES.join(', ')}`)
  await beginCopyState(sql, digest, TABLES)
  return state === undefined ? 'new' : 'begins again'
}

/** Throws a `StartupError` when the database has any row that a first start does not make. */
async function refuseOtherData(sql: Sql): Promise<void> {
  const unused = [...TABLES].filter((table) => !SEEDED.has(table))
  const looks = unused.map((table) => `select '${table}' as name where exists (select 1 from ${table})`)
  const used = await sql.get<{ name: string }>(`${looks.join(' union all ')} limit 1`)
  const foreign = await sql.get<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() and not tablename = any($1::text[])
     limit 1`,
    `{${[...TABLES, ...OWN_TABLES].join(',')}}`,
  )
  const found = used ?? foreign
  if (found === undefined) return
  throw new StartupError(
    `The database of DATABASE_URL holds other data (in its table ${found.name}): set DATABASE_URL to an empty database.`,
  )
}

async function copyTable(target: Store, source: CopySource, table: SourceTable, options: CopyOptions): Promise<void> {
  const { name } = table
  const of = source.sums.get(name)!.rows
  let before = await readCopyProgress(target.read, name)
  while (!before.isDone) {
    const { json, rows, lastKey, isLast } = source.readPart(table, before.lastKey, options.part ?? PART)
    const after = { rows: before.rows + rows, lastKey, isDone: isLast }
    const move = { before, after }
    await target.transaction(SCHEMA, async (sql) => {
      await moveCopyProgress(sql, name, move)
      if (rows > 0) await sql.run(insertStatement(table), json)
    })
    before = after
    await options.onPart?.({ table: name, rows: after.rows, of })
  }
}

/** Returns the statement that inserts a JSON list of rows. */
function insertStatement({ name, columns }: SourceTable): string {
  const names = columns.map((column) => column.name).join(', ')
  const typed = columns.map((column) => `${column.name} ${column.type}`).join(', ')
  return `insert into ${name} (${names}) select ${names} from json_to_recordset($1::json) as part (${typed})`
}

async function compare(sql: Sql, source: CopySource): Promise<readonly CopiedTable[]> {
  const tables: CopiedTable[] = []
  for (const table of TABLES) {
    const [inSource, inTarget] = [source.sums.get(table)!, await sumPostgresTable(sql, table)]
    tables.push({ table, source: inSource, target: inTarget, isSame: isSameSum(inSource, inTarget) })
  }
  return tables
}

/** Turns the loss of the database, and a value that it does not take, into a sentence. */
function toldError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) {
    return new StartupError(
      `PostgreSQL is gone (${error.message}): run the same command again, which goes on where it ended.`,
    )
  }
  if (error instanceof DatabaseError) {
    return new StartupError(`PostgreSQL does not take a part of the data (${error.message}): nothing of it was kept.`)
  }
  return error
}
