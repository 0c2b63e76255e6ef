import assert from 'node:assert/strict'
import type { Address } from 'viem'
import type { WorldEvent } from '../../world.ts'
import type { Step } from '../campaign.ts'
import type { PendingOrder } from '../codec.ts'
import { heldFor } from '../formulas.ts'
import type { Ground } from '../ground.ts'
import type { Ledger } from '../ledger.ts'
import { keyOf, TRADER_ADDRESSES, type Snapshot } from '../snapshot.ts'

/** Checks that every token is accounted for, and that the Diamond holds what it owes and what rounding left there. */
export function checkHoldings(snapshot: Snapshot, ledger: Ledger, ground: Ground): void {
  for (const { index, symbol } of ground.collaterals) {
    const { supply, diamond, vault, treasury, traders } = snapshot.balances[index]!
    const all = diamond + vault + treasury + traders.reduce((sum, balance) => sum + balance, 0n)
    assert.equal(all, supply, `${symbol} was made or lost`)
    const due = owedByDiamond(snapshot, ledger, index) + (ledger.rounded.get(index) ?? 0n)
    assert.equal(diamond, due, `the Diamond does not have the ${symbol} it owes`)
  }
}

/**
 * Returns the collateral of open positions, resting orders and pending orders, and the fees that governance has not
 * claimed.
 */
function owedByDiamond(snapshot: Snapshot, ledger: Ledger, collateralIndex: number): bigint {
  let owed = snapshot.govFees[collateralIndex]!
  for (const [i, trade] of snapshot.trades.entries()) {
    if (trade.collateralIndex !== collateralIndex) continue
    const held = heldFor(trade, snapshot.fees[i]!)
    assert(held >= 0n, `trade ${keyOf(trade)} is held at ${held}`)
    owed += held
  }
  for (const order of snapshot.orders) {
    if (order.trade.collateralIndex === collateralIndex) owed += broughtBy(order, ledger)
  }
  return owed
}

/** Returns the collateral sent with a request, which is returned when it is refused. */
function broughtBy({ orderType, trade }: PendingOrder, ledger: Ledger): bigint {
  if (orderType === 0 || orderType === 8) return trade.collateralAmount
  if (orderType !== 7) return 0n
  return trade.leverage < ledger.trades.get(keyOf(trade))!.leverage ? trade.collateralAmount : 0n
}

/**
 * Checks that the balances of traders and treasury and the unclaimed fees changed by the amounts of the events, and by
 * nothing else.
 */
export function checkFlows(before: Snapshot, after: Snapshot, step: Step, ledger: Ledger, ground: Ground): void {
  const events = step.receipts.flatMap((receipt) => receipt.events)
  const paid = flowsToTraders(events, ledger)
  if (step.minted !== undefined) {
    const { trader, collateralIndex, amount } = step.minted
    paid.add(trader, collateralIndex, amount)
  }
  for (const { index, symbol } of ground.collaterals) {
    for (const [i, trader] of TRADER_ADDRESSES.entries()) {
      const change = after.balances[index]!.traders[i]! - before.balances[index]!.traders[i]!
      assert.equal(
        change,
        paid.get(trader, index),
        `${symbol} of ${trader} changed by something else than the events say`,
      )
    }
    const treasury = after.balances[index]!.treasury - before.balances[index]!.treasury
    assert.equal(treasury, chargedTo(events, index, ['GnsOtcFeeCharged', 'TriggerFeeCharged']), 'to the treasury')
    const gov = after.govFees[index]! - before.govFees[index]!
    assert.equal(gov, chargedTo(events, index, ['GovFeeCharged']), 'to governance')
  }
}

function chargedTo(events: readonly WorldEvent[], collateralIndex: number, names: readonly string[]): bigint {
  let sum = 0n
  for (const event of events) {
    if (!names.includes(event.eventName)) continue
    const args = event.args as { collateralIndex: number; amountCollateral: bigint }
    if (args.collateralIndex === collateralIndex) sum += args.amountCollateral
  }
  return sum
}

type Flows = {
  add(trader: Address, collateralIndex: number, amount: bigint): void
  get(trader: Address, collateralIndex: number): bigint
}

function createFlows(): Flows {
  const flows = new Map<string, bigint>()
  const key = (trader: Address, collateralIndex: number): string => `${trader.toLowerCase()}/${collateralIndex}`
  return {
    add(trader, collateralIndex, amount) {
      flows.set(key(trader, collateralIndex), (flows.get(key(trader, collateralIndex)) ?? 0n) + amount)
    },
    get: (trader, collateralIndex) => flows.get(key(trader, collateralIndex)) ?? 0n,
  }
}

function flowsToTraders(events: readonly WorldEvent[], ledger: Ledger): Flows {
  const flows = createFlows()
  for (const event of events) addFlow(flows, event, ledger)
  return flows
}

/** Adds the flow of an event: requests take collateral from the trader, everything else pays it. */
function addFlow(flows: Flows, event: WorldEvent, ledger: Ledger): void {
  switch (event.eventName) {
    case 'PendingOrderStored': {
      const { user, trade } = event.args.pendingOrder
      return flows.add(user, trade.collateralIndex, -broughtBy(event.args.pendingOrder, ledger))
    }
    case 'TradeStored': {
      const { user, trade } = event.args
      if (trade.tradeType !== 0) flows.add(user, trade.collateralIndex, -trade.collateralAmount)
      return
    }
    case 'OpenLimitCanceled': {
      const trade = ledger.trades.get(keyOf({ user: event.args.trader, index: event.args.index }))!
      return flows.add(trade.user, trade.collateralIndex, trade.collateralAmount)
    }
    case 'CollateralReturnedAfterTimeout':
      return flows.add(event.args.trader, event.args.collateralIndex, event.args.collateralAmount)
    case 'MarketOpenCanceled': {
      const { trade } = ledger.orders.get(keyOf(event.args.orderId))!
      return flows.add(event.args.trader, trade.collateralIndex, event.args.collateralReturned)
    }
    case 'MarketExecuted':
    case 'LimitExecuted':
      return flows.add(event.args.user, event.args.t.collateralIndex, event.args.amountSentToTrader)
    case 'LeverageUpdateExecuted': {
      const { trader, collateralIndex, collateralDelta, isIncrease, cancelReason } = event.args
      if (isIncrease === (cancelReason === 0)) flows.add(trader, collateralIndex, collateralDelta)
      return
    }
    case 'PositionSizeIncreaseExecuted': {
      const { trader, collateralIndex, collateralDelta, cancelReason } = event.args
      if (cancelReason !== 0) flows.add(trader, collateralIndex, collateralDelta)
      return
    }
    case 'PositionSizeDecreaseExecuted': {
      const { trader, collateralIndex, cancelReason, values } = event.args
      if (cancelReason !== 0 || values.collateralSentToTrader < 0n) return
      flows.add(trader, collateralIndex, values.collateralSentToTrader)
    }
  }
}
