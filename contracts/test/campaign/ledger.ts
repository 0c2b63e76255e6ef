import assert from 'node:assert/strict'
import type { WorldEvent } from '../world.ts'
import type { PendingOrder, Trade } from './codec.ts'
import { heldFor, sizeOf } from './formulas.ts'
import { findTrade, keyOf, type Snapshot } from './snapshot.ts'

/** The state according to the events alone: every trade and pending order so far, and which of them are open. */
export type Ledger = {
  trades: Map<string, Trade>
  orders: Map<string, PendingOrder>
  openTrades: Set<string>
  openOrders: Set<string>
  /** Number of assigned indexes by user, in lower case. */
  tradeCounts: Map<string, number>
  orderCounts: Map<string, number>
  /** Open interest that leverage updates left behind when they truncated a size, by `sideKey`. */
  sizeLeftBehind: Map<string, bigint>
  /** Tokens by collateral index that rounding left in the Diamond, or took, when partial closes scaled a record. */
  rounded: Map<number, bigint>
  /** The last order of each type on each trade, by `${trade}/${type}`. */
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
    sizeLeftBehind: new Map(),
    rounded: new Map(),
    newestOrders: new Map(),
  }
}

/**
 * Applies an event. Throws when an index is skipped or assigned twice, or when something is closed that is not open.
 */
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
      // The same transaction may cancel the order, and then no other event shows its last prices.
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

/**
 * Records what rounding changes beside the positions: a leverage update keeps the open interest, a partial close by
 * collateral scales a record whose parts are rounded one by one.
 */
export function recordRounding(ledger: Ledger, before: Snapshot, after: Snapshot, event: WorldEvent): void {
  if (event.eventName === 'LeverageUpdateExecuted' && event.args.cancelReason === 0) {
    const id = { user: event.args.trader, index: Number(event.args.index) }
    const { trade } = findTrade(before, id)!
    add(ledger.sizeLeftBehind, sideKey(trade), sizeOf(trade) - sizeOf(findTrade(after, id)!.trade))
  }
  if (event.eventName === 'PositionSizeDecreaseExecuted' && event.args.cancelReason === 0) {
    const { values, collateralIndex, trader, index } = event.args
    if (values.isLeverageUpdate) return
    const { trade, fees } = findTrade(after, { user: trader, index: Number(index) })!
    const taken = values.availableCollateralInDiamond + values.closingFeeCollateral
    const surplus = values.totalAvailableCollateralInDiamond - taken - heldFor(trade, fees)
    const bound = 4n + 1_000n / BigInt(trade.leverage)
    assert(surplus >= -bound && surplus <= bound, `a partial close left ${surplus} units of rounding`)
    add(ledger.rounded, collateralIndex, surplus)
  }
}

function add<K>(sums: Map<K, bigint>, key: K, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

/** Returns the key of one side of a pair in one collateral. */
export function sideKey({ collateralIndex, pairIndex, long }: Pick<Trade, 'collateralIndex' | 'pairIndex' | 'long'>) {
  return `${collateralIndex}/${pairIndex}/${long ? 'long' : 'short'}`
}

/** Returns the key of a trade and an order type, the arguments of `getTradePendingOrderBlock`. */
export function flagKey({ trade, orderType }: PendingOrder): string {
  return `${keyOf(trade)}/${orderType}`
}

/**
 * Returns the block that the Diamond must return for an order type on a trade: that of the newest order while it is
 * open, otherwise 0.
 */
export function expectedFlag(ledger: Ledger, key: string): bigint {
  const newest = ledger.newestOrders.get(key)
  return newest !== undefined && ledger.openOrders.has(keyOf(newest)) ? BigInt(newest.createdBlock) : 0n
}
