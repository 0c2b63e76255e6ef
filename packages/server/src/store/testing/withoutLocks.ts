import type { ChainSlug } from '@bezel/protocol'
import { holding, textOf, type PointRead, type Sql, type SqlValue, type Store, type Transaction } from '../sql.ts'

/**
 * Wraps a store so that no transaction waits for another: every one has a scope of its own, rows are read without being
 * held, and the relayer's nonces come out of memory. Tests of races use it to see that they fail without the locks.
 */
export function withoutLocks(store: Store): Store {
  let scopes = 0
  return {
    ...store,
    transaction: (_scope, work) =>
      store.transaction({ chain: `alone ${(scopes += 1)}` as ChainSlug }, (sql) => work(withoutRowLocks(sql))),
  }
}

/** The statement that takes a nonce of the relayer, which holds the row of all of them. */
const TAKES_NONCE = /^update relay_senders set next_nonce = next_nonce \+ 1/

let lastNonce = 1_000_000n

function withoutRowLocks(sql: Transaction): Transaction {
  const free = (read: string | PointRead): string | PointRead =>
    typeof read === 'string' ? read.replace(holding(sql), '') : read
  const all: Sql['all'] = (read, ...params) => sql.all(free(read), ...params)
  const get: Sql['get'] = async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) => {
    if (TAKES_NONCE.test(textOf(read))) return { nonce: (lastNonce += 1n) } as Row
    return sql.get<Row>(free(read), ...params)
  }
  return { ...sql, all, get }
}
