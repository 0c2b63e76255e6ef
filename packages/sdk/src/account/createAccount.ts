import type { Account, AccountEvent, AuditLogEntry, FillHistoryEntry, Order, Position } from '@bezel/protocol/wire'
import { type Transport, queryOf } from '../http/createTransport.ts'

/** A page of a list that is sorted newest first. */
export interface Page<Item> {
  readonly data: Item[]
  /** Cursor of the next, older page; null on the last page. */
  readonly nextCursor: string | null
}

/** Options of lists that are read page by page. */
export interface PageOptions {
  /** Cursor of an earlier page's `nextCursor`. Default: the newest page. */
  readonly cursor?: string
  /** Entries per page, 1 to 500. */
  readonly limit?: number
}

/** A part of the account's numbered event log. */
export interface EventPage {
  readonly data: AccountEvent[]
  /** Number of the newest event in the log. */
  readonly lastSeq: number
}

/** Reads of the trader's account. They need an agent or a read-only key. */
export interface AccountReads {
  /** Reads balances, allowances and agents. */
  get(): Promise<Account>
  /** Lists the open positions. */
  positions(): Promise<Position[]>
  /** Lists the open orders. */
  openOrders(): Promise<Order[]>
  /** Reads a page of all orders, newest first. */
  orderHistory(options?: PageOptions): Promise<Page<Order>>
  /** Reads a page of executions and of refusals that cost something, newest first. */
  fills(options?: PageOptions): Promise<Page<FillHistoryEntry>>
  /** Iterates over all of them, newest first, and reads page after page. Default page size 100. */
  allFills(options?: { readonly pageSize?: number }): AsyncGenerator<FillHistoryEntry, void, undefined>
  /** Reads a page of the changes of rights on the account, newest first: agents, keys, delegations, pauses. */
  audit(options?: PageOptions): Promise<Page<AuditLogEntry>>
  /** Reads the events after number `after`, oldest first. Default `after` 0 and limit 100; the limit is 1 to 500. */
  events(options?: { readonly after?: number; readonly limit?: number }): Promise<EventPage>
}

const DEFAULT_PAGE_SIZE = 100

/**
 * Creates the reads of an account. `traderOf` returns its address, and may have to ask the service for the agent's
 * trader.
 */
export function createAccount(transport: Transport, root: string, traderOf: () => Promise<string>): AccountReads {
  async function read<Answer>(operationId: string, path: string): Promise<Answer> {
    const full = `${root}/account/${await traderOf()}${path}`
    return transport.call<Answer>({ operationId, method: 'GET', path: full, auth: 'read', retry: 'read' })
  }
  const list = async <Item>(operationId: string, path: string): Promise<Item[]> =>
    (await read<{ data: Item[] }>(operationId, path)).data
  const account: AccountReads = {
    get: () => read('getAccount', ''),
    positions: () => list('listPositions', '/positions'),
    openOrders: () => list('listOpenOrders', '/orders'),
    orderHistory: ({ cursor, limit } = {}) => read('listOrderHistory', `/orders/history${queryOf({ cursor, limit })}`),
    fills: ({ cursor, limit } = {}) => read('listFills', `/fills${queryOf({ cursor, limit })}`),
    async *allFills({ pageSize = DEFAULT_PAGE_SIZE } = {}) {
      let page = await account.fills({ limit: pageSize })
      yield* page.data
      while (page.nextCursor !== null) {
        page = await account.fills({ limit: pageSize, cursor: page.nextCursor })
        yield* page.data
      }
    },
    audit: ({ cursor, limit } = {}) => read('listAudit', `/audit${queryOf({ cursor, limit })}`),
    events: ({ after, limit } = {}) => read('listEvents', `/events${queryOf({ after, limit })}`),
  }
  return account
}
