import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Address } from 'viem'
import type { WorldEvent } from '../../world.ts'
import type { Ground } from '../ground.ts'
import { expectedFlag, flagKey, type Ledger } from '../ledger.ts'
import { keyOf, USERS, type Snapshot } from '../snapshot.ts'

type Counters = Snapshot['tradeCounters']

/**
 * Checks that lists, counters and events agree on what exists, and that every pending order is about an existing trade.
 */
export function checkRecords(snapshot: Snapshot, ledger: Ledger): void {
  assert.deepEqual(
    new Set(snapshot.trades.map(keyOf)),
    ledger.openTrades,
    'the open trades are others than the events say',
  )
  assert.deepEqual(
    new Set(snapshot.orders.map(keyOf)),
    ledger.openOrders,
    'the open orders are others than the events say',
  )
  assert.equal(snapshot.trades.length, ledger.openTrades.size, 'a trade is listed twice')
  assert.equal(snapshot.orders.length, ledger.openOrders.size, 'a pending order is listed twice')
  checkCounters(snapshot.tradeCounters, ledger.tradeCounts, snapshot.trades, 'trades')
  checkCounters(snapshot.orderCounters, ledger.orderCounts, snapshot.orders, 'pending orders')
  for (const trade of snapshot.trades) {
    assert(trade.isOpen && trade.collateralAmount > 0n && trade.leverage > 0 && trade.openPrice > 0n, keyOf(trade))
    assert.equal(trade.positionSizeToken > 0n, trade.tradeType === 0, `trade ${keyOf(trade)} and its tokens`)
  }
  for (const order of snapshot.orders) {
    assert(order.isOpen, `pending order ${keyOf(order)} is listed but not open`)
    if (order.orderType === 0) continue
    assert(ledger.trades.has(keyOf(order.trade)), `pending order ${keyOf(order)} is about a trade that never was`)
  }
}

function checkCounters(
  counters: Counters,
  counts: ReadonlyMap<string, number>,
  open: readonly { user: Address }[],
  what: string,
): void {
  for (const [i, user] of USERS.entries()) {
    const { currentIndex, openCount } = counters[i]!
    assert.equal(currentIndex, counts.get(user.toLowerCase()) ?? 0, `${what} of ${user}: indices are not dense`)
    assert.equal(openCount, open.filter((entry) => entry.user === user).length, `${what} of ${user}: open count`)
  }
}

/** Checks that trades which no event of the step names are unchanged, and their realized fees too. */
export function checkUntouched(before: Snapshot, after: Snapshot, events: readonly WorldEvent[]): void {
  const named = new Set(events.flatMap(tradesNamedBy))
  const afterByKey = new Map(after.trades.map((trade, i) => [keyOf(trade), [trade, after.fees[i]] as const]))
  for (const [i, trade] of before.trades.entries()) {
    const key = keyOf(trade)
    if (named.has(key)) continue
    const now = afterByKey.get(key)
    assert(isDeepStrictEqual(now?.[0], trade), `trade ${key} changed without an event`)
    assert(isDeepStrictEqual(now?.[1], before.fees[i]), `what trade ${key} has realised changed without an event`)
  }
}

function tradesNamedBy(event: WorldEvent): string[] {
  const args = event.args as { user?: Address; trader?: Address; index?: number | bigint }
  const user = args.user ?? args.trader
  return user === undefined || args.index === undefined ? [] : [keyOf({ user, index: Number(args.index) })]
}

/**
 * Checks that `getTradePendingOrderBlock` is non-zero exactly while the newest order of that kind on that trade is
 * open.
 */
export async function checkFlags(ground: Ground, ledger: Ledger, events: readonly WorldEvent[]): Promise<void> {
  const touched = new Set<string>()
  for (const event of events) {
    if (event.eventName === 'PendingOrderStored') touched.add(flagKey(event.args.pendingOrder))
    if (event.eventName === 'PendingOrderClosed') touched.add(flagKey(ledger.orders.get(keyOf(event.args.orderId))!))
  }
  await Promise.all([...touched].map((key) => checkFlag(ground, ledger, key)))
}

async function checkFlag(ground: Ground, ledger: Ledger, key: string): Promise<void> {
  const [trade = '', orderType] = key.split('/')
  if (orderType === '0') return // market opens are about no trade yet
  const [user, index] = trade.split(':')
  const id = { user: user as Address, index: Number(index) }
  const block = await ground.read('getTradePendingOrderBlock', [id, Number(orderType)])
  assert.equal(block, expectedFlag(ledger, key), `the block of the pending order ${key}`)
}

/** Reads every index ever assigned one by one, and every list by user, and compares them with the ledger. */
export async function checkAllRecords(ground: Ground, ledger: Ledger, snapshot: Snapshot): Promise<void> {
  for (const user of USERS) {
    const [trades, orders] = await Promise.all([
      ground.read('getTrades', [user]),
      ground.read('getPendingOrders', [user]),
    ])
    assert.deepEqual(
      trades,
      snapshot.trades.filter((trade) => trade.user === user),
    )
    assert.deepEqual(
      orders,
      snapshot.orders.filter((order) => order.user === user),
    )
  }
  for (const [key, known] of ledger.trades) {
    const trade = await ground.read('getTrade', [known.user, known.index])
    assert.equal(trade.isOpen, ledger.openTrades.has(key), `trade ${key} read by itself`)
    assert(isDeepStrictEqual(trade, { ...known, isOpen: trade.isOpen }), `trade ${key} is not what it last was`)
  }
  for (const [key, known] of ledger.orders) {
    const order = await ground.read('getPendingOrder', [{ user: known.user, index: known.index }])
    assert.deepEqual(order, { ...known, isOpen: ledger.openOrders.has(key) }, `pending order ${key} read by itself`)
  }
  await Promise.all([...ledger.newestOrders.keys()].map((key) => checkFlag(ground, ledger, key)))
}
