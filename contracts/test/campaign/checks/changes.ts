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
  scale: formulas.Scale
  current: bigint
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

/** Checks that the change realized the accrued fees and `more`. */
function checkRealized({ fees, newFees, holding }: Changed, more: bigint): void {
  const realized = formulas.realizedOf(newFees) - formulas.realizedOf(fees)
  assert.equal(realized, more - holding, 'what a change realises')
}

/** Checks a leverage update: the position keeps its size, and only the collateral that this frees or needs moves. */
function checkLeverage(changed: Changed, event: EventOf<'LeverageUpdateExecuted'>['args']): void {
  const { trade, newTrade, order, scale } = changed
  const collateral = (trade.collateralAmount * BigInt(trade.leverage)) / BigInt(order.trade.leverage)
  assert.equal(newTrade.leverage, order.trade.leverage)
  assert.equal(newTrade.collateralAmount, collateral)
  const moved = trade.collateralAmount - collateral
  assert.equal(event.collateralDelta, moved > 0n ? moved : -moved)
  assert.deepEqual([newTrade.openPrice, newTrade.positionSizeToken], [trade.openPrice, trade.positionSizeToken])
  checkRealized(changed, -formulas.minGovFee(trade.pairIndex, scale))
}

/**
 * Checks an increase: the new part opens at its execution price, and the open price becomes the average, rounded
 * against the trader.
 */
function checkIncrease(changed: Changed, event: EventOf<'PositionSizeIncreaseExecuted'>['args']): void {
  const { trade, newTrade, order, scale, current } = changed
  const { collateralAmount, leverage } = order.trade
  const exec = event.values.priceImpact.priceAfterImpact
  const base = collateralAmount > 0n ? collateralAmount : trade.collateralAmount
  const added = (base * BigInt(leverage)) / 1_000n
  const size = formulas.sizeOf(trade)
  const pnl = (trade.collateralAmount * formulas.profitP(trade, current)) / 10n ** 12n
  const old = trade.long ? size + pnl : size - pnl
  const sum = old * trade.openPrice + added * exec
  const weight = old + added
  assert.equal(newTrade.openPrice, trade.long ? (sum + weight - 1n) / weight : sum / weight, 'the new open price')
  assert.equal(newTrade.collateralAmount, trade.collateralAmount + collateralAmount)
  assert.equal(BigInt(newTrade.leverage), ((size + added) * 1_000n) / newTrade.collateralAmount)
  assert.equal(newTrade.positionSizeToken, trade.positionSizeToken + event.values.priceImpact.positionSizeToken)
  assert(
    !formulas.isSlipped(trade.long, exec, order.trade.openPrice, order.maxSlippageP),
    'increased beyond the slippage',
  )
  checkRealized(changed, -formulas.tradingFee(trade.pairIndex, scale, added, trade.isCounterTrade))
}

/**
 * Checks a decrease: the closed part pays out its collateral (none when only leverage is reduced) and its net profit. A
 * loss beyond that stays with the remaining position.
 */
function checkDecrease(changed: Changed, event: EventOf<'PositionSizeDecreaseExecuted'>['args']): void {
  const { trade, newTrade, order, scale } = changed
  const isLeverage = order.trade.leverage > 0
  const part = isLeverage
    ? { ...trade, leverage: order.trade.leverage }
    : { ...trade, collateralAmount: order.trade.collateralAmount }
  const fee = formulas.tradingFee(trade.pairIndex, scale, formulas.sizeOf(part), trade.isCounterTrade)
  const exec = event.values.priceImpact.priceAfterImpact
  const net = (part.collateralAmount * formulas.profitP(part, exec)) / 10n ** 12n - fee
  const due = net + (isLeverage ? 0n : part.collateralAmount)
  assert.equal(event.values.collateralSentToTrader, due > 0n ? due : 0n, 'the payout of a partial close')
  assert.equal(newTrade.leverage, isLeverage ? trade.leverage - part.leverage : trade.leverage)
  const rest = isLeverage ? trade.collateralAmount : trade.collateralAmount - part.collateralAmount
  assert.equal(newTrade.collateralAmount, rest)
  const [taken, whole] = isLeverage
    ? [BigInt(part.leverage), BigInt(trade.leverage)]
    : [part.collateralAmount, trade.collateralAmount]
  assert.equal(newTrade.positionSizeToken, trade.positionSizeToken - (trade.positionSizeToken * taken) / whole)
  assert.equal(newTrade.openPrice, trade.openPrice)
  checkRealized(changed, due < 0n ? due : 0n)
}
