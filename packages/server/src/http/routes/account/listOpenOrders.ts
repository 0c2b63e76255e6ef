import {
  OneOf,
  OPEN_ORDER_STATUSES,
  OrderListSchema,
  type Address,
  type ChainSlug,
  type OpenOrderStatus,
  type Order,
  type OrderId,
} from '@bezel/protocol'
import { createLru, type Lru } from '../../../ground/lru.ts'
import { notReady } from '../../../ground/unavailable.ts'
import { readLastSeq } from '../../../store/accountEventStore.ts'
import { listLiveOrders } from '../../../store/orderStore.ts'
import type { Sql } from '../../../store/sql.ts'
import { filteredMarket } from '../../../trading/market/marketNotFound.ts'
import { answersOf } from '../../../trading/orders/orderModel.ts'
import { queryRefusal, unknownParameters } from '../../parameters.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { marketsOf } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { idCursors, readSelection, selectionQuery, selectionText, type Selection } from './selection.ts'

const { market, since, cursor, limit } = selectionQuery(
  'Earliest `createdAt` of an order, in epoch milliseconds. Default 0.',
)

const QUERY = {
  market,
  status: {
    schema: OneOf(OPEN_ORDER_STATUSES),
    description: 'State of the orders that are wanted. Default: all four.',
  },
  since,
  cursor,
  limit,
}

const CURSORS = idCursors('q')

export const listOpenOrdersRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/orders',
  operationId: 'listOpenOrders',
  tag: 'Account',
  access: 'read',
  summary:
    'Lists the orders that are pending, open, timed out and not reclaimed, or prepared and not expired, newest first',
  description:
    'After a lost answer, look here before you send an order again. Without parameters the answer has all of them. ' +
    'With `limit` it is a page: go on with `cursor` until `nextCursor` is null. MARKET_NOT_FOUND means that the chain never had the market.',
  errors: ['TRADER_MISMATCH', 'MARKET_NOT_FOUND'],
  query: QUERY,
  responses: { 200: OrderListSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    const selection = readQuery(request.query)
    // While the follower lags, an order that was filled meanwhile would still be listed as open.
    const reason = context.followerReason(chain)
    if (reason !== undefined) throw notReady(reason)
    if (selection.market !== undefined) filteredMarket(marketsOf(context, chain).freshness.loaded(), selection.market)
    const list = await openOrders(context.store.read, chain, trader)
    return reply.type(JSON_TYPE).send(textOf(list, selection))
  },
})

interface OrderSelection extends Selection {
  readonly status: OpenOrderStatus | undefined
}

/** Reads the query. Throws `VALIDATION_ERROR`. */
function readQuery(query: Readonly<Record<string, unknown>>): OrderSelection {
  const issues = unknownParameters(query, QUERY)
  const selection = readSelection(query, QUERY, CURSORS, issues)
  const status = OPEN_ORDER_STATUSES.find((known) => known === query.status)
  if (query.status !== undefined && status === undefined) {
    issues.push({ path: 'query.status', message: `must be one of ${OPEN_ORDER_STATUSES.join(', ')}` })
  }
  if (issues.length > 0) throw queryRefusal(issues)
  return { ...selection, status }
}

/** An order with its text, and the fields that a query selects by. */
interface ListedOrder extends Pick<Order, 'market' | 'status' | 'createdAt'> {
  readonly id: OrderId
  readonly text: string
}

/** The open orders of an account, newest first, with the number of the account's last event when they were read. */
interface OpenOrders {
  readonly seq: number
  readonly orders: readonly ListedOrder[]
  /** The answer with all of them. */
  readonly text: string
}

/** Orders from which a list is kept. Shorter ones cost little more to read than to look up. */
const MIN_KEPT_ORDERS = 100

/** Total length of the texts in memory. */
const MAX_KEPT_CHARS = 8_000_000

const keptByStore = new WeakMap<Sql, Lru<string, OpenOrders>>()

/**
 * Reads the open orders. A long list is kept until the account's next event, because every status that a read shows was
 * told by an event before.
 */
async function openOrders(sql: Sql, chain: ChainSlug, trader: Address): Promise<OpenOrders> {
  // Each order is kept twice: alone, and in the answer with all of them.
  const lists = keptByStore.get(sql) ?? createLru<string, OpenOrders>(MAX_KEPT_CHARS, ({ text }) => 2 * text.length)
  keptByStore.set(sql, lists)
  const key = `${chain} ${trader}`
  const seq = await readLastSeq(sql, { chain, trader })
  const known = lists.get(key)
  if (known?.seq === seq) return known
  const orders = answersOf(await listLiveOrders(sql, chain, trader)).map(listedOrder)
  const list = { seq, orders, text: `{"data":[${orders.map(({ text }) => text).join(',')}]}` }
  if (orders.length >= MIN_KEPT_ORDERS) lists.set(key, list)
  return list
}

function listedOrder(order: Order): ListedOrder {
  const { id, status, createdAt } = order
  return { id: id as OrderId, market: order.market, status, createdAt, text: JSON.stringify(order) }
}

function textOf(list: OpenOrders, selection: OrderSelection): string {
  const { sinceMs, page, status } = selection
  const isWhole = selection.market === undefined && status === undefined && sinceMs === 0 && page === undefined
  if (isWhole) return list.text
  const before = Number(page?.cursor ?? Number.MAX_SAFE_INTEGER)
  const selected = list.orders.filter(
    (order) =>
      Number(order.id) < before &&
      (selection.market === undefined || order.market === selection.market) &&
      (status === undefined || order.status === status) &&
      order.createdAt >= sinceMs,
  )
  return selectionText(selected, page, { cursors: CURSORS, idOf: ({ id }) => id, textOf: ({ text }) => text })
}
