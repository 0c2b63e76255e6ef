import { StoreUnavailableError } from '../ground/unavailable.ts'
import { closeSync, existsSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { PRIVATE_FILE_MODE } from '@bezel/protocol/dataFolder'
import { endOfTransaction } from './endOfTransaction.ts'
import {
  textOf,
  type LastStatement,
  type PointRead,
  type Sql,
  type SqlValue,
  type Store,
  type StoreWatch,
  type Transaction,
} from './sql.ts'
import { tellSafely } from './tellSafely.ts'

/** Maximum number of cached prepared statements; more than the texts in the store modules. */
const MAX_PREPARED_STATEMENTS = 256
/** Time to wait for a writer in another process, such as a backup or a shell. */
const BUSY_TIMEOUT_MS = 2_000
/**
 * Page cache of the writer. Larger than SQLite's default, because a range of blocks changes more pages than fit there,
 * and they would be written twice.
 */
const WRITER_CACHE_KIB = 32_768
/**
 * Page cache of the reader. Smaller, because most reads are of recently written pages, which the operating system has
 * cached.
 */
const READER_CACHE_KIB = 8_192
/** Interval between two attempts to begin a transaction. Waiting inside SQLite would block the whole process. */
const BUSY_POLL_MS = 20
/** SQLite's result code BUSY: another connection is writing. */
const BUSY_CODE = 5
/**
 * Result codes of SQLite for temporary or external faults, not wrong statements: BUSY, LOCKED, READONLY, IOERR,
 * CORRUPT, FULL, CANTOPEN.
 */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([5, 6, 8, 10, 11, 13, 14])

/**
 * Opens a SQLite file as a store. Commits are on disk when they return (WAL with synchronous=FULL). Reads use a
 * connection of their own, so they never see an uncommitted transaction.
 */
export function openSqlite(file: string, { onBegun }: Pick<StoreWatch, 'onBegun'> = {}): Store {
  createPrivateFile(file)
  const writer = connect(file, WRITER_CACHE_KIB)
  const reader = connect(file, READER_CACHE_KIB)
  const read = createSql(reader)
  const write = createSql(writer)
  let last: Promise<unknown> = Promise.resolve()
  writer.exec('pragma busy_timeout = 0')

  async function begin(deadlineMs: number): Promise<void> {
    for (;;) {
      try {
        await write.run('begin immediate')
        return
      } catch (error) {
        if (!isBusy(error) || Date.now() >= deadlineMs) throw error
      }
      await sleep(BUSY_POLL_MS)
    }
  }

  async function inTransaction<Result>(
    deadlineMs: number,
    work: (sql: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const tells: (() => void)[] = []
    const lasts: LastStatement[] = []
    await begin(deadlineMs)
    let result: Result
    try {
      result = await work({ ...write, ...endOfTransaction(tells, lasts) })
      for (const final of lasts) final.row = await write.get(final.text, ...final.params)
      await write.run('commit')
    } catch (error) {
      if (writer.isTransaction) await write.run('rollback')
      throw error
    }
    for (const tell of tells) tellSafely(tell)
    return result
  }

  return {
    read,
    transaction(_scope, work) {
      // The deadline counts from the call, so that queued transactions wait for a busy file together, not one after the
      // other.
      const deadlineMs = Date.now() + BUSY_TIMEOUT_MS
      const sinceMs = performance.now()
      const result = last.then(() =>
        inTransaction(deadlineMs, (sql) => {
          onBegun?.(performance.now() - sinceMs)
          return work(sql)
        }),
      )
      last = result.catch(() => undefined)
      return result
    },
    async close() {
      await last
      reader.close()
      writer.close()
    },
  }
}

/**
 * Creates the file for its owner alone; SQLite gives the files beside it the same mode. An existing one is left as it
 * is: closing a file that this process has locked elsewhere would release that lock.
 */
function createPrivateFile(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', PRIVATE_FILE_MODE))
}

function connect(file: string, cacheKib: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  database.exec('pragma foreign_keys = on')
  database.exec(`pragma cache_size = -${cacheKib}`)
  return database
}

function createSql(database: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>()

  function statement(text: string): StatementSync {
    const known = prepared.get(text)
    if (known !== undefined) return known
    if (prepared.size >= MAX_PREPARED_STATEMENTS) prepared.clear()
    const made = database.prepare(text)
    made.setReadBigInts(true)
    prepared.set(text, made)
    return made
  }

  return {
    engine: 'sqlite',
    all: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      guarded(() => statement(textOf(read)).all(named(params)) as Row[]),
    get: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      guarded(() => statement(textOf(read)).get(named(params)) as Row | undefined),
    run: async (text, ...params) => guarded(() => Number(statement(text).run(named(params)).changes)),
    write: (written, ...params) => void guarded(() => statement(textOf(written)).run(named(params))),
  }
}

/** Converts parameters to an object, because node:sqlite treats `$1` as a name and not as a position. */
function named(params: readonly SqlValue[]): Record<string, SQLInputValue> {
  const values: Record<string, SQLInputValue> = {}
  let at = 0
  for (const value of params) values[`${++at}`] = value
  return values
}

function isBusy(error: unknown): boolean {
  return error instanceof StoreUnavailableError && errorCode(error.cause) === BUSY_CODE
}

/** Returns the primary result code, the low byte of SQLite's extended one. */
function errorCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: number } | undefined)?.errcode
  return code === undefined ? undefined : code & 0xff
}

function guarded<Result>(step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    const code = errorCode(error)
    if (code !== undefined && UNAVAILABLE_CODES.has(code)) {
      throw new StoreUnavailableError((error as Error).message, { cause: error })
    }
    throw error
  }
}
