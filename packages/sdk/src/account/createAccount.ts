import type {
  Account,
  AuditLogEntry,
  EventPage,
  FillHistoryEntry,
  OpenOrderStatus,
  Order,
  Position,
} from '@bezel/protocol/wire'
import { type Transport, queryOf } from '../http/createTransport.ts'

/** A page of a list. */
export interface Page<Item> {
  /** Entries, in the order of the list. */
  readonly data: Item[]
  /** Cursor of the next page; null on the last page. */
  readonly nextCursor: string | null
}

/** Options of lists that are read page by page. */
export interface PageOptions {
  /** `nextCursor` of an earlier page of the same list. Default: the first page. */
  readonly cursor?: string
  /** Entries per page, 1 to 500. Default 50. */
  readonly limit?: number
}

/** The positions to list. */
export interface PositionFilter {
  /** Symbol of the only market that is wanted. Default: all markets. */
  readonly market?: string
  /** Earliest time at which a position was opened, in epoch milliseconds. Default 0. */
  readonly since?: number
}

/** The open orders to list. */
export interface OpenOrderFilter {
  /** Symbol of the only market that is wanted. Default: all markets. */
  readonly market?: string
  /** State that the orders have. Default: any. */
  readonly status?: OpenOrderStatus
  /** Earliest `createdAt` of an order, in epoch milliseconds. Default 0. */
  readonly since?: number
}

/** Reads of the trader's account. They need an agent or a read-only key. */
export interface AccountReads {
  /** Reads balances, allowances and agents. */
  get(): Promise<Account>
  /** Lists the open positions, oldest first: all of them, or those that the filter selects. */
  positions(filter?: PositionFilter): Promise<Position[]>
  /** Reads a page of the open positions, oldest first. */
  positionsPage(options?: PositionFilter & PageOptions): Promise<Page<Position>>
  /** Lists the open orders, newest first: all of them, or those that the filter selects. */
  openOrders(filter?: OpenOrderFilter): Promise<Order[]>
  /** Reads a page of the open orders, newest first. */
  openOrdersPage(options?: OpenOrderFilter & PageOptions): Promise<Page<Order>>
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

/** Entries of a page of what is open, as the service has it for the other lists. */
const DEFAULT_LIMIT = 50

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
    positions: ({ market, since } = {}) => list('listPositions', `/positions${queryOf({ market, since })}`),
    // Without a limit the service answers with the whole list.
    positionsPage: ({ market, since, cursor, limit = DEFAULT_LIMIT } = {}) =>
      read('listPositions', `/positions${queryOf({ market, since, cursor, limit })}`),
    openOrders: ({ market, status, since } = {}) =>
      list('listOpenOrders', `/orders${queryOf({ market, status, since })}`),
    openOrdersPage: ({ market, status, since, cursor, limit = DEFAULT_LIMIT } = {}) =>
      read('listOpenOrders', `/orders${queryOf({ market, status, since, cursor, limit })}`),
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
