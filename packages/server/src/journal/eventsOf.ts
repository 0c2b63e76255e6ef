import type { OrderChange } from '../trading/orders/orderChange.ts'
import type { Address } from '@bezel/protocol'
import type { NewEvent } from '../store/accountEventStore.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'
import type { OrderState } from '../trading/orders/orderModel.ts'
import type { Cause, Changes } from './accountLog.ts'

/** All open positions of a trader once `changes` are made, as JSON. */
export type PositionsText = (trader: Address, changes: Changes['positions']) => string

/** The events that tell what a transaction changed, in their order, by trader. */
export function eventsOf(changes: Changes, positionsText: PositionsText): Map<Address, NewEvent[]> {
  const byTrader = new Map<Address, NewEvent[]>()
  const add = (trader: Address, events: readonly NewEvent[]): void => {
    const before = byTrader.get(trader)
    if (before === undefined) byTrader.set(trader, [...events])
    else before.push(...events)
  }
  for (const change of changes.orders) add(change.record.trader, orderEvents(change, changes.cause))
  for (const trader of new Set(changes.positions.map(({ record }) => record.trader))) {
    add(trader, [newEvent('positions', positionsText(trader, changes.positions), changes.cause)])
  }
  return byTrader
}

/** What changed only inside, like the moment at which time moves an order on, is nobody's news. */
function orderEvents({ record, before, after }: OrderChange, cause: Cause): NewEvent[] {
  const current = after ?? vanished(before, cause)
  if (current === undefined) return []
  const data = JSON.stringify(orderAnswer(record, current))
  if (before !== undefined && JSON.stringify(orderAnswer(record, before)) === data) return []
  const by = causeOf(current, after === undefined, cause)
  const order = newEvent('orders', data, by)
  return isFillNews(before, current) ? [order, newEvent('fills', data, by)] : [order]
}

/** Time ends what was prepared, also when a block is what made somebody look. An order that is no more is a correction, whatever found that out. */
function causeOf({ status }: OrderState, isVanished: boolean, cause: Cause): Cause {
  if (isVanished) return { ...cause, isReorg: true }
  return status === 'expired' && !cause.isReorg ? { ...cause, block: null } : cause
}

/** A fill that is new or another one, and one that was taken back. */
function isFillNews(before: OrderState | undefined, after: OrderState): boolean {
  const told = before?.status === 'filled' ? JSON.stringify(before.fill) : undefined
  const now = after.status === 'filled' ? JSON.stringify(after.fill) : undefined
  return told !== now
}

/** An order that was found on a chain which is no longer the chain: it never came to be, which is nearest to having expired. */
function vanished(before: OrderState | undefined, { nowMs }: Cause): OrderState | undefined {
  if (before === undefined) return undefined
  return { ...before, status: 'expired', txHash: null, expiresAtMs: null, fill: null, reason: null, updatedAtMs: nowMs }
}

function newEvent(channel: NewEvent['channel'], data: string, { nowMs, block, isReorg }: Cause): NewEvent {
  return { channel, timestampMs: nowMs, block, isReverted: isReorg, data }
}
