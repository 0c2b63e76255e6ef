import type { LoggedEvent } from '../../../store/accountEventStore.ts'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address, Order, OrderId } from '@bezel/protocol'
import { readPage } from '../../../journal/readPage.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { FacadeOrderStatus } from '../../facadeOrder.ts'
import { channelText, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createSingleFlight } from '../../../ground/singleFlight.ts'
import { createPublisher } from '../../../ground/publisher.ts'
import { createUserChannel } from './userChannel.ts'
import { createUserReaders, type UserReader, type UserReaders } from './userReaders.ts'
import { findOrder } from '../../../store/orderStore.ts'
import type { OrderState } from '../../../trading/orders/orderModel.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { shortOrder } from '../../info/openOrders.ts'
import { facadeOrders } from '../../userOrders.ts'
import { findTriggerOrder, openTriggers } from '../../positionTriggers.ts'

const PAGE = { limit: 200, maxBytes: 1024 * 1024 }

interface OrderReaderOptions extends Pick<FacadeStreamSources, 'reads' | 'log' | 'turns' | 'onError'> {
  readonly user: Address
  readonly isOver: () => boolean
}

/** Readers of users' orders. Each change is one entry of the news. */
export type OrderReaders = UserReaders<UserReader<FacadeOrderStatus>>

/** Creates the readers of all users with a subscriber. Channels that tell the same share them. */
export function createOrderReaders(sources: FacadeStreamSources): OrderReaders {
  return createUserReaders(sources.log, (user, isOver) => openOrderReader({ ...sources, user, isOver }))
}

/** Creates the channel of a user's orders from now on, with one entry for each order event of the user's log. */
export function createOrderUpdates(readers: OrderReaders, counts: ChannelCounts): FacadeChannel {
  const messageOf = (orders: readonly FacadeOrderStatus[]): string =>
    channelText('orderUpdates', JSON.stringify(orders.map(orderUpdate)))
  return createUserChannel({ readers, counts, messageOf })
}

function openOrderReader(options: OrderReaderOptions): UserReader<FacadeOrderStatus> {
  const { reads, log, turns, user, isOver, onError } = options
  const listeners = createPublisher<readonly FacadeOrderStatus[]>()
  const triggers = createTriggerNews(reads, user)
  /** Sequence number of the last event that was sent. */
  let place = 0

  async function open(): Promise<void> {
    await triggers.look()
    place = await turns.soon(() => log.lastSeq(user))
  }

  async function readOn(): Promise<void> {
    await opened
    for (let isLast = false; !isLast;) {
      const page = await turns.soon(() => readPage(log, user, { after: place, ...PAGE }))
      // The in-memory state is updated right after a commit, but not in the same tick of the event loop.
      await nextTick()
      const updates = await updatesOf(page.events)
      place = page.events.at(-1)?.seq ?? place
      isLast = page.isLast
      if (updates.length > 0) listeners.publish(updates)
    }
  }

  async function updatesOf(events: readonly LoggedEvent[]): Promise<FacadeOrderStatus[]> {
    const updates: FacadeOrderStatus[] = []
    /** Ids of the trigger orders that the events executed, wholly or in part. */
    const executed = new Set<number>()
    for (const event of events) {
      const order = event.channel === 'orders' ? await orderOfEvent(reads, event) : undefined
      if (order?.order.isPositionTpsl === true) executed.add(order.order.oid)
      else if (order !== undefined) updates.push(order)
    }
    const isChanged = executed.size > 0 || events.some(({ channel }) => channel === 'positions')
    return isChanged ? [...updates, ...(await triggers.look(executed))] : updates
  }

  const opened = open()
  return {
    user,
    opened,
    wake: createSingleFlight({ work: readOn, isOver, onError }).ask,
    onNews: listeners.subscribe,
  }
}

/**
 * Returns the order of an event as it was at that time, or nothing when it is not stored or hidden (see `isSent`). A
 * trigger order is as it is now.
 */
async function orderOfEvent(reads: FacadeReads, event: LoggedEvent): Promise<FacadeOrderStatus | undefined> {
  const order = JSON.parse(event.data) as Order
  const stored = await findOrder(reads.sql, order.id as OrderId)
  if (stored === undefined) return undefined
  return (await facadeOrders(reads, [{ ...stored, state: stateOf(order, event) }]))[0]
}

/** Returns one entry of an `orderUpdates` message. */
function orderUpdate({ order, status, statusTimestamp }: FacadeOrderStatus) {
  return { order: shortOrder(order), status, statusTimestamp }
}

/**
 * Restores an order's state from its event. Fields that an event lacks get neutral values, because the facade does not
 * show them.
 */
function stateOf(order: Order, { isReverted }: LoggedEvent): OrderState {
  return {
    // An order that was shown and then undone by a reorg is canceled for the client that saw it.
    status: isReverted && order.status === 'expired' ? 'canceled' : order.status,
    size: order.size as OrderState['size'],
    price: order.price as OrderState['price'],
    sl: order.sl as OrderState['sl'],
    tp: order.tp as OrderState['tp'],
    slippage: order.slippage as OrderState['slippage'],
    txHash: order.txHash as OrderState['txHash'],
    expiresAtMs: order.expiresAt,
    fill: order.fill,
    reason: order.reason,
    updatedAtMs: order.updatedAt,
    tradeIndex: null,
    unanswered: [],
    dueAtMs: null,
    dueBlock: null,
    countedSinceMs: order.createdAt,
  }
}

/**
 * Detects changes of take profits and stop losses. They are orders in the facade but fields of a position natively, so
 * they have no events of their own and are compared with the last look.
 */
interface TriggerNews {
  /**
   * Returns the triggers that are new, changed or gone since the last call, and of the `executed` ones those that are
   * gone; the end of each only once. The first call returns none.
   */
  look(executed?: ReadonlySet<number>): Promise<readonly FacadeOrderStatus[]>
}

/** Number of trigger orders whose end is remembered. Events of their executions come within moments. */
const MAX_ENDED = 1_000

function createTriggerNews(reads: FacadeReads, user: Address): TriggerNews {
  let known: ReadonlyMap<number, string> | undefined
  /** The ends of orders as they were told. Positions may be ahead of the events, whose executions are over then. */
  const told = new Map<number, FacadeOrderStatus['status']>()

  return {
    async look(executed = new Set()) {
      const open = await openTriggers(reads, reads.positionsOf(user))
      const now = new Map(open.map(({ order }) => [order.oid, JSON.stringify(order)]))
      const news = known === undefined ? [] : open.filter(({ order }) => known!.get(order.oid) !== now.get(order.oid))
      for (const oid of now.keys()) told.delete(oid)
      const gone = new Set([...(known?.keys() ?? []), ...executed]).difference(now)
      for (const oid of gone) news.push(...(await ended(oid)))
      known = now
      return news
    },
  }

  async function ended(oid: number): Promise<FacadeOrderStatus[]> {
    const order = await findTriggerOrder(reads, user, String(oid) as OrderId)
    if (order === undefined || order.status === 'open' || order.status === told.get(oid)) return []
    told.set(oid, order.status)
    if (told.size > MAX_ENDED) told.delete(told.keys().next().value!)
    return [order]
  }
}
