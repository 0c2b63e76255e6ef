import type { Scope } from './scope.ts'

/** A value that both SQLite and PostgreSQL store unchanged. Money and ids are text or whole numbers. */
export type SqlValue = string | number | bigint | null

/** Runs statements on one connection. Parameters are `$1`, `$2`, ... in the text; whole numbers come back as bigint. */
export interface Sql {
  /** The engine behind it, for the few statements that the engines do not share. */
  readonly engine: 'sqlite' | 'postgres'
  all<Row>(text: string, ...params: readonly SqlValue[]): Promise<Row[]>
  get<Row>(text: string, ...params: readonly SqlValue[]): Promise<Row | undefined>
  /** Runs a statement and returns the number of changed rows. */
  run(text: string, ...params: readonly SqlValue[]): Promise<number>
}

/** The connection of a transaction that is under way. */
export interface Transaction extends Sql {
  /**
   * Calls `tell` once the transaction has committed, and never when it is rolled back. All calls are made before the
   * next transaction begins, so that what is kept in memory changes in the order of the commits.
   */
  afterCommit(tell: () => void): void
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

const BIGINT_PATTERN = /^-?\d+n$/

/**
 * Serialises to JSON that keeps whole numbers of any size: a bigint becomes text with an `n` appended. Only for values
 * without text from users, which could look the same.
 */
export function toExactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}

export function fromExactJson<Value>(text: string): Value {
  return withBigints(JSON.parse(text)) as Value
}

/** Restores bigints in place. Several times as fast as a reviver, which is called for every value. */
function withBigints(part: unknown): unknown {
  if (typeof part === 'string') return BIGINT_PATTERN.test(part) ? BigInt(part.slice(0, -1)) : part
  if (typeof part !== 'object' || part === null) return part
  const fields = part as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const value = fields[key]
    if (typeof value === 'string' || typeof value === 'object') fields[key] = withBigints(value)
  }
  return part
}
