import type { Account, AccountEvent, FillHistoryEntry, Order, Position } from '@bezel/protocol/wire'
import type { Transport } from '../http/createTransport.ts'
import { queryOf } from '../http/queryOf.ts'

/** One page of a list that is read newest first. */
export interface Page<Item> {
  readonly data: Item[]
  /** For the next, older page; null at the end. */
  readonly nextCursor: string | null
}

export interface PageOptions {
  readonly cursor?: string
  /** 1 to 500. */
  readonly limit?: number
}

/** A part of the account's numbered log. */
export interface EventPage {
  readonly data: AccountEvent[]
  /** The newest number there is. */
  readonly lastSeq: number
}

/** The trader's own account. Needs an agent or a read-only key. */
export interface AccountReads {
  /** Balances, allowances, agents. */
  get(): Promise<Account>
  positions(): Promise<Position[]>
  openOrders(): Promise<Order[]>
  orderHistory(options?: PageOptions): Promise<Page<Order>>
  fills(options?: PageOptions): Promise<Page<FillHistoryEntry>>
  /** Every execution, newest first, page by page. */
  allFills(options?: { readonly pageSize?: number }): AsyncGenerator<FillHistoryEntry, void, undefined>
  /** What happened after number `after` (0), oldest first, 1 to 500 events (100). */
  events(options?: { readonly after?: number; readonly limit?: number }): Promise<EventPage>
}

const DEFAULT_PAGE_SIZE = 100

/** `traderOf` says whose account it is; it may have to ask the service for the agent's trader. */
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
    events: ({ after, limit } = {}) => read('listEvents', `/events${queryOf({ after, limit })}`),
  }
  return account
}
