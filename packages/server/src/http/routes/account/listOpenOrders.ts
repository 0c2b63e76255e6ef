import { OrderListSchema, type Address, type ChainSlug } from '@bezel/protocol'
import { createLru, type Lru } from '../../../ground/lru.ts'
import { notReady } from '../../../ground/unavailable.ts'
import { readLastSeq } from '../../../store/accountEventStore.ts'
import { listLiveOrders } from '../../../store/orderStore.ts'
import type { Sql } from '../../../store/sql.ts'
import { answersOf } from '../../../trading/orders/orderModel.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export const listOpenOrdersRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/orders',
  operationId: 'listOpenOrders',
  tag: 'Account',
  access: 'read',
  summary:
    'Lists the orders that are pending, open, timed out and not reclaimed, or prepared and not expired, newest first',
  errors: ['TRADER_MISMATCH'],
  responses: { 200: OrderListSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    // While the follower lags, an order that was filled meanwhile would still be listed as open.
    const reason = context.followerReason(chain)
    if (reason !== undefined) throw notReady(reason)
    return reply.type(JSON_TYPE).send(await openOrders(context.store.read, chain, trader))
  },
})

/** A long list in memory, with the number of the account's last event when it was read. */
interface KeptList {
  readonly seq: number
  readonly text: string
}

/** Orders from which a list is kept. Shorter ones cost little more to read than to look up. */
const MIN_KEPT_ORDERS = 100

/** Total length of the lists in memory. */
const MAX_KEPT_CHARS = 8_000_000

const keptByStore = new WeakMap<Sql, Lru<string, KeptList>>()

/**
 * Returns the answer. A long one is kept until the account's next event, because every status that a read shows was
 * told by an event before.
 */
async function openOrders(sql: Sql, chain: ChainSlug, trader: Address): Promise<string> {
  const lists = keptByStore.get(sql) ?? createLru<string, KeptList>(MAX_KEPT_CHARS, ({ text }) => text.length)
  keptByStore.set(sql, lists)
  const key = `${chain} ${trader}`
  const seq = await readLastSeq(sql, { chain, trader })
  const known = lists.get(key)
  if (known?.seq === seq) return known.text
  const orders = await listLiveOrders(sql, chain, trader)
  const text = JSON.stringify({ data: answersOf(orders) })
  if (orders.length >= MIN_KEPT_ORDERS) lists.set(key, { seq, text })
  return text
}
