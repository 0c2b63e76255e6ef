import type { Scope } from './scope.ts'

/** A value that both SQLite and PostgreSQL store unchanged. Money and ids are text or whole numbers. */
export type SqlValue = string | number | bigint | null

/**
 * A statement that stores one row, and that an engine may run once for many rows that were written one after the
 * other. PostgreSQL does, because each statement costs it more than a row.
 */
export interface RowStatement {
  /** The statement for one row, with a parameter for each of `columns`. */
  readonly text: string
  /** The statement of PostgreSQL for many rows, which `$1` has as a JSON list of objects. */
  readonly bulk: string
  readonly columns: readonly string[]
  /** Number of leading columns by which rows differ; rows that agree in them are never in one statement. */
  readonly keyColumns: number
  /** Place among the statements that are sent together: a table comes after those that its rows refer to. */
  readonly rank: number
}

/**
 * A read by key that an engine may run once for many keys that are asked for at the same time. PostgreSQL does, because
 * each statement costs it more than a row. No parameter is a `limit`.
 */
export interface PointRead {
  /** The read for one key, with a parameter for each part of the key. */
  readonly text: string
  /** The read of PostgreSQL for many keys, which `$1` has as a JSON list; `asked_no` tells whose row it is. */
  readonly bulk: string
}

/** Runs statements on one connection. Parameters are `$1`, `$2`, ... in the text; whole numbers come back as bigint. */
export interface Sql {
  /** The engine behind it, for the few statements that the engines do not share. */
  readonly engine: 'sqlite' | 'postgres'
  all<Row>(statement: string | PointRead, ...params: readonly SqlValue[]): Promise<Row[]>
  get<Row>(statement: string | PointRead, ...params: readonly SqlValue[]): Promise<Row | undefined>
  /** Runs a statement and returns the number of changed rows. */
  run(text: string, ...params: readonly SqlValue[]): Promise<number>
  /**
   * Runs a statement whose result nobody needs. An engine with round trips keeps it until the next statement or the
   * commit, and sends both together; every later statement sees what it wrote. Its error may therefore be thrown there.
   */
  write(statement: string | RowStatement, ...params: readonly SqlValue[]): void
}

/** Returns the text of a statement for one row or one key. */
export function textOf(statement: string | Pick<RowStatement | PointRead, 'text'>): string {
  return typeof statement === 'string' ? statement : statement.text
}

/** The connection of a transaction that is under way. */
export interface Transaction extends Sql {
  /**
   * Calls `tell` once the transaction has committed, and never when it is rolled back. All calls are made before the
   * next transaction begins, so that what is kept in memory changes in the order of the commits.
   */
  afterCommit(tell: () => void): void
  /**
   * Runs a statement as one of the last of the transaction, together with its commit, because it takes a lock that many
   * wait for. `tell` is called like those of `afterCommit`, with the row that the statement returned; with `undefined`
   * when the commit is known to stand but its answer was lost.
   */
  atCommit<Row>(text: string, params: readonly SqlValue[], tell: (row: Row | undefined) => void): void
}

/** A statement that runs together with the commit. */
export interface LastStatement {
  readonly text: string
  readonly params: readonly SqlValue[]
  /** The row that it returned, once the transaction has committed. */
  row: unknown
}

/** The database of a deployment, independent of the engine behind it. */
export interface Store {
  /** Reads committed data. */
  readonly read: Sql
  /**
   * Runs `work` in one transaction: everything is durable when the promise resolves, nothing is changed when it
   * rejects. Two transactions whose scopes overlap run one after the other. `work` must not start another transaction,
   * and may run more than once, of which only the last run counts: it changes nothing in memory but by `afterCommit`,
   * and computes everything from what it reads in this run.
   */
  transaction<Result>(scope: Scope, work: (sql: Transaction) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * Returns the end of a select that holds the rows it finds until the end of the transaction. For rows that transactions
 * of different scopes change. SQLite has one writer, and needs nothing.
 */
export function holding({ engine }: Pick<Sql, 'engine'>): string {
  return engine === 'postgres' ? ' for update' : ''
}

/** Returns the end of a select like `holding`, which leaves out the rows that another transaction holds. */
export function holdingFree({ engine }: Pick<Sql, 'engine'>): string {
  return engine === 'postgres' ? ' for update skip locked' : ''
}

const BIGINT_PATTERN = /^-?\d+n$/
/** Text that looks like a bigint, and is marked by a quote so that it does not become one. */
const MARKED_PATTERN = /^'+-?\d+n$/

/**
 * Serialises to JSON that keeps whole numbers of any size: a bigint becomes text with an `n` appended, and text that
 * looks the same gets a quote in front.
 */
export function toExactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`
    return typeof part === 'string' && looksExact(part) ? `'${part}` : part
  })
}

/** Returns true for text that reads as a bigint, marked or not. The last character tells nearly all others apart. */
function looksExact(text: string): boolean {
  return text.endsWith('n') && (BIGINT_PATTERN.test(text) || MARKED_PATTERN.test(text))
}

export function fromExactJson<Value>(text: string): Value {
  return withBigints(JSON.parse(text)) as Value
}

/** Restores bigints in place. Several times as fast as a reviver, which is called for every value. */
function withBigints(part: unknown): unknown {
  if (typeof part === 'string') return exactText(part)
  if (typeof part !== 'object' || part === null) return part
  const fields = part as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const value = fields[key]
    if (typeof value === 'string' || typeof value === 'object') fields[key] = withBigints(value)
  }
  return part
}

function exactText(text: string): string | bigint {
  if (!looksExact(text)) return text
  return text.startsWith("'") ? text.slice(1) : BigInt(text.slice(0, -1))
}

/** Told of what a store does, for the numbers that operators see. */
export interface StoreWatch {
  /** Called when a transaction begins, with the time for which it waited for its turn, a connection and its locks. */
  readonly onBegun?: (waitedMs: number) => void
  /** Called after each commit with the number of round trips of its transaction, its begin and commit included. */
  readonly onCommit?: (trips: number, scope: Scope) => void
  /** Called for each read outside of a transaction, which is one round trip. */
  readonly onRead?: () => void
}
