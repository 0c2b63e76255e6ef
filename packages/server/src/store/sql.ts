/** A value SQLite and PostgreSQL both store as it is. Money and ids are text or whole numbers. */
export type SqlValue = string | number | bigint | null

/** Statements on one connection; parameters are `$1`, `$2`, ... in the text. Whole numbers come back as bigint. */
export interface Sql {
  all<Row>(text: string, ...params: readonly SqlValue[]): Promise<Row[]>
  get<Row>(text: string, ...params: readonly SqlValue[]): Promise<Row | undefined>
  /** How many rows it changed. */
  run(text: string, ...params: readonly SqlValue[]): Promise<number>
}

/** The durable memory of a deployment: one port, whatever engine is behind it. */
export interface Store {
  /** Reads what is committed. */
  readonly read: Sql
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves, none of it when it rejects. One writer at a time,
   * in the order of the calls. `work` must not start another transaction.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}
