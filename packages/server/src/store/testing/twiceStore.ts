import process from 'node:process'
import type { Store, Transaction } from '../sql.ts'

/** Name of the setting under which the stores of unit tests run every transaction twice. */
const TWICE_SETTING = 'TRANSACTIONS_TWICE'

/** Returns the store as the tests are to use it: under `TRANSACTIONS_TWICE=1` it runs every transaction twice. */
export function asAsked(store: Store): Store {
  return process.env[TWICE_SETTING] === '1' ? runTwice(store) : store
}

/**
 * Wraps a store so that the work of every transaction runs twice, the first time rolled back, as an engine does that
 * has to repeat a transaction. Work that throws runs once: an engine repeats only what failed by its own doing.
 */
export function runTwice(store: Store): Store {
  return {
    ...store,
    transaction: (scope, work) =>
      store.transaction(scope, async (sql) => {
        const undone: Transaction = { ...sql, afterCommit: () => undefined, atCommit: () => undefined }
        await sql.run('savepoint first_run')
        await work(undone)
        await sql.run('rollback to savepoint first_run')
        await sql.run('release savepoint first_run')
        return work(sql)
      }),
  }
}
