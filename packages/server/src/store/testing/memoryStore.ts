import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import {
  textOf,
  type LastStatement,
  type PointRead,
  type Sql,
  type SqlValue,
  type Store,
  type Transaction,
} from '../sql.ts'
import { endOfTransaction } from '../endOfTransaction.ts'
import { asAsked } from './twiceStore.ts'

/**
 * Opens a store in memory, for tests that make so many transactions that a file would take minutes. Reads and
 * transactions share one connection, so a test must not read while a transaction is under way.
 */
export function openMemoryStore(): Store {
  const database = new DatabaseSync(':memory:')
  database.exec('pragma foreign_keys = on')
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const statement = (text: string): ReturnType<DatabaseSync['prepare']> => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const made = database.prepare(text)
    made.setReadBigInts(true)
    prepared.set(text, made)
    return made
  }
  const named = (params: readonly SqlValue[]): Record<string, SQLInputValue> => {
    const values: Record<string, SQLInputValue> = {}
    let at = 0
    for (const value of params) values[++at] = value
    return values
  }
  const sql: Sql = {
    engine: 'sqlite',
    all: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      statement(textOf(read)).all(named(params)) as Row[],
    get: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      statement(textOf(read)).get(named(params)) as Row | undefined,
    run: async (text, ...params) => Number(statement(text).run(named(params)).changes),
    write: (written, ...params) => void statement(textOf(written)).run(named(params)),
  }
  let last: Promise<unknown> = Promise.resolve()

  async function inTransaction<Result>(work: (sql: Transaction) => Promise<Result>): Promise<Result> {
    const tells: (() => void)[] = []
    const lasts: LastStatement[] = []
    database.exec('begin')
    try {
      const result = await work({ ...sql, ...endOfTransaction(tells, lasts) })
      for (const final of lasts) final.row = await sql.get(final.text, ...final.params)
      database.exec('commit')
      for (const tell of tells) tell()
      return result
    } catch (error) {
      database.exec('rollback')
      throw error
    }
  }

  return asAsked({
    read: sql,
    transaction(_scope, work) {
      const result = last.then(() => inTransaction(work))
      last = result.catch(() => undefined)
      return result
    },
    async close() {
      await last
      database.close()
    },
  })
}
