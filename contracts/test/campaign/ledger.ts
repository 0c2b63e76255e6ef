import assert from 'node:assert/strict'
import type { WorldEvent } from '../world.ts'
import type { PendingOrder, Trade } from './codec.ts'
import { keyOf } from './snapshot.ts'

/** What the events alone say: every trade and pending order there ever was, and which are open. */
export type Ledger = {
  trades: Map<string, Trade>
  orders: Map<string, PendingOrder>
  openTrades: Set<string>
  openOrders: Set<string>
  /** Indices assigned so far, by user in lower case. */
  tradeCounts: Map<string, number>
  orderCounts: Map<string, number>
  /** The last order of each type about each trade, by `${trade}/${type}`. */
  newestOrders: Map<string, PendingOrder>
}

export function createLedger(): Ledger {
  return {
    trades: new Map(),
    orders: new Map(),
    openTrades: new Set(),
    openOrders: new Set(),
    tradeCounts: new Map(),
    orderCounts: new Map(),
    newestOrders: new Map(),
  }
}

/** Takes up an event; fails when an index is skipped or given twice, or something is closed that is not open. */
export function record(ledger: Ledger, event: WorldEvent): void {
  switch (event.eventName) {
    case 'TradeStored': {
      const { user, index, trade } = event.args
      takeNext(ledger.tradeCounts, user, index, 'trade')
      ledger.trades.set(keyOf(trade), trade)
      ledger.openTrades.add(keyOf(trade))
      return
    }
    case 'OpenOrderDetailsUpdated': {
      // The same transaction may cancel the order, and then nothing else shows how it was last.
      const { user, index, openPrice, tp, sl } = event.args
      const key = keyOf({ user, index })
      ledger.trades.set(key, { ...ledger.trades.get(key)!, openPrice, tp, sl })
      return
    }
    case 'TradeClosed':
      assert(ledger.openTrades.delete(keyOf(event.args)), `trade ${keyOf(event.args)} was closed without being open`)
      return
    case 'PendingOrderStored': {
      const { pendingOrder } = event.args
      takeNext(ledger.orderCounts, pendingOrder.user, pendingOrder.index, 'pending order')
      ledger.orders.set(keyOf(pendingOrder), pendingOrder)
      ledger.openOrders.add(keyOf(pendingOrder))
      ledger.newestOrders.set(flagKey(pendingOrder), pendingOrder)
      return
    }
    case 'PendingOrderClosed': {
      const key = keyOf(event.args.orderId)
      assert(ledger.openOrders.delete(key), `pending order ${key} was closed without being open`)
    }
  }
}

function takeNext(counts: Map<string, number>, user: string, index: number, what: string): void {
  const key = user.toLowerCase()
  const next = counts.get(key) ?? 0
  assert.equal(index, next, `the next ${what} of ${user} did not get the next index`)
  counts.set(key, next + 1)
}

/** Names what `getTradePendingOrderBlock` is asked for. */
export function flagKey({ trade, orderType }: PendingOrder): string {
  return `${keyOf(trade)}/${orderType}`
}

/** The block the Diamond must give for that kind of order on that trade: the newest one's while it is open, else none. */
export function expectedFlag(ledger: Ledger, key: string): bigint {
  const newest = ledger.newestOrders.get(key)
  return newest !== undefined && ledger.openOrders.has(keyOf(newest)) ? BigInt(newest.createdBlock) : 0n
}
