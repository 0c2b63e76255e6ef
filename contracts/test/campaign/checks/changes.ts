import assert from 'node:assert/strict'
import type { WorldEvent } from '../../world.ts'
import type { PendingOrder, Trade, TradeFees } from '../codec.ts'
import * as formulas from '../formulas.ts'

type EventOf<N extends WorldEvent['eventName']> = Extract<WorldEvent, { eventName: N }>

/** A position before and after a change that an oracle answer executed. */
export type Changed = {
  order: PendingOrder
  trade: Trade
  fees: TradeFees
  newTrade: Trade
  newFees: TradeFees
  /** Funding and borrowing fees accrued before the change. */
  holding: bigint
  terms: formulas.Terms
}

type ChangeEvent = EventOf<'LeverageUpdateExecuted' | 'PositionSizeIncreaseExecuted' | 'PositionSizeDecreaseExecuted'>

/** Recomputes an executed leverage update, size increase or decrease. */
export function checkChange(changed: Changed, event: ChangeEvent): void {
  const { trade, newTrade } = changed
  const fixed = ({ user, index, pairIndex, long, collateralIndex, isCounterTrade, tp, tradeType }: Trade) =>
    JSON.stringify([user, index, pairIndex, long, collateralIndex, isCounterTrade, tp.toString(), tradeType])
  assert.equal(fixed(newTrade), fixed(trade), 'a change of size or leverage changed something else')
  if (event.eventName === 'LeverageUpdateExecuted') return checkLeverage(changed, event.args)
  if (event.eventName === 'PositionSizeIncreaseExecuted') return checkIncrease(changed, event.args)
  return checkDecrease(changed, event.args)
}

/** Checks that the change realized `more`. */
function checkRealized({ fees, newFees }: Changed, more: bigint): void {
  assert.equal(formulas.realizedOf(newFees) - formulas.realizedOf(fees), more, 'what a change realises')
}

/**
 * Checks a leverage update: the position keeps its size and what it owes, and only the collateral that this frees or
 * needs moves.
 */
function checkLeverage(changed: Changed, event: EventOf<'LeverageUpdateExecuted'>['args']): void {
  const { trade, newTrade, order, terms } = changed
  const collateral = (trade.collateralAmount * BigInt(trade.leverage)) / BigInt(order.trade.leverage)
  assert.equal(newTrade.leverage, order.trade.leverage)
  assert.equal(newTrade.collateralAmount, collateral)
  const moved = trade.collateralAmount - collateral
  assert.equal(event.collateralDelta, moved > 0n ? moved : -moved)
  assert.deepEqual([newTrade.openPrice, newTrade.positionSizeToken], [trade.openPrice, trade.positionSizeToken])
  checkRealized(changed, -formulas.minGovFee(trade.pairIndex, terms))
}

/**
 * Checks an increase: the new part opens at its execution price, and the open price becomes the average, rounded
 * against the trader.
 */
function checkIncrease(changed: Changed, event: EventOf<'PositionSizeIncreaseExecuted'>['args']): void {
  const { trade, newTrade, order, terms, holding } = changed
  const { collateralAmount, leverage } = order.trade
  const exec = event.values.priceImpact.priceAfterImpact
  const base = collateralAmount > 0n ? collateralAmount : trade.collateralAmount
  const size = formulas.sizeOf(trade)
  const asked = size + (base * BigInt(leverage)) / 1_000n
  assert.equal(newTrade.collateralAmount, trade.collateralAmount + collateralAmount)
  assert.equal(BigInt(newTrade.leverage), (asked * 1_000n) / newTrade.collateralAmount)
  const added = formulas.sizeOf(newTrade) - size
  const pnl = (trade.collateralAmount * formulas.profitP(trade, exec)) / 10n ** 12n
  const old = trade.long ? size + pnl : size - pnl
  const sum = old * trade.openPrice + added * exec
  const weight = old + added
  assert.equal(newTrade.openPrice, trade.long ? (sum + weight - 1n) / weight : sum / weight, 'the new open price')
  assert.equal(newTrade.positionSizeToken, trade.positionSizeToken + event.values.priceImpact.positionSizeToken)
  assert(
    !formulas.isSlipped(trade.long, exec, order.trade.openPrice, order.maxSlippageP),
    'increased beyond the slippage',
  )
  checkRealized(changed, -formulas.tradingFee(trade.pairIndex, terms, added, trade.isCounterTrade) - holding)
}

/**
 * Checks a decrease. By collateral the trader gets that part of the collateral and of the net profit, and the record is
 * scaled down. By leverage it gets the net profit only; what it does not get of the raw one stays with the position.
 */
function checkDecrease(changed: Changed, event: EventOf<'PositionSizeDecreaseExecuted'>['args']): void {
  const { trade, newTrade, fees, newFees, order, terms, holding } = changed
  const { values } = event
  const isLeverage = order.trade.leverage > 0
  const part = isLeverage
    ? { ...trade, leverage: order.trade.leverage }
    : { ...trade, collateralAmount: order.trade.collateralAmount }
  const closed = formulas.sizeOf(part)
  const size = formulas.sizeOf(trade)
  const fee = formulas.tradingFee(trade.pairIndex, terms, closed, trade.isCounterTrade)
  const exec = values.priceImpact.priceAfterImpact
  const raw = (formulas.profitP(trade, exec) * trade.collateralAmount * closed) / size / 10n ** 12n
  const worth = formulas.worthOf(trade, terms, exec, holding - formulas.realizedOf(fees))
  const due = ((worth - trade.collateralAmount) * closed) / size - fee + (isLeverage ? 0n : part.collateralAmount)
  assert.equal(values.partialRawPnlCollateral, raw, 'the raw profit of a partial close')

  assert.equal(newTrade.leverage, isLeverage ? trade.leverage - part.leverage : trade.leverage)
  const rest = isLeverage ? trade.collateralAmount : trade.collateralAmount - part.collateralAmount
  assert.equal(newTrade.collateralAmount, rest)
  assert.equal(newTrade.positionSizeToken, trade.positionSizeToken - (trade.positionSizeToken * closed) / size)
  assert.equal(newTrade.openPrice, trade.openPrice)

  if (isLeverage && due < 0n) {
    assert(values.collateralSentToTrader <= 0n, 'a loss pays nothing')
    const lost = newFees.alreadyTransferredNegativePnlCollateral - fees.alreadyTransferredNegativePnlCollateral
    assert.equal(lost, -values.collateralSentToTrader, 'the loss that the vault has already')
  } else {
    assert.equal(values.collateralSentToTrader, due, 'the payout of a partial close')
  }
  if (isLeverage) return checkRealized(changed, raw - (due > 0n ? due : 0n) - fee - holding)
  checkScaled(changed, closed, size)
}

/** Checks a record that a partial close by collateral scaled down: each part by itself, rounded against the trader. */
function checkScaled({ trade, fees, newFees, holding }: Changed, closed: bigint, size: bigint): void {
  const available = formulas.heldFor(trade, fees)
  const charged = holding <= 0n ? 0n : holding < available ? holding : available
  const paid = fees.realizedTradingFeesCollateral + charged
  const pnl = fees.realizedPnlCollateral - (holding - charged)
  assert.equal(newFees.realizedTradingFeesCollateral, paid - (paid * closed) / size, 'scaled trading fees')
  const taken = pnl > 0n ? formulas.partUp(pnl, closed, size) : -((-pnl * closed) / size)
  assert.equal(newFees.realizedPnlCollateral, pnl - taken, 'scaled realised PnL')
  const lost = fees.alreadyTransferredNegativePnlCollateral
  assert.equal(newFees.alreadyTransferredNegativePnlCollateral, lost - (lost * closed) / size, 'scaled losses')
}
