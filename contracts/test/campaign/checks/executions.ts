import assert from 'node:assert/strict'
import type { WorldEvent } from '../../world.ts'
import type { PendingOrder, Trade, TradeFees } from '../codec.ts'
import type { Coverage } from '../coverage.ts'
import * as formulas from '../formulas.ts'
import type { Ground, Receipt } from '../ground.ts'
import type { Ledger } from '../ledger.ts'
import { bookOf, findTrade, keyOf, type Snapshot } from '../snapshot.ts'
import { checkChange, type Changed } from './changes.ts'

type EventOf<N extends WorldEvent['eventName']> = Extract<WorldEvent, { eventName: N }>['args']
type Impact = EventOf<'MarketExecuted'>['priceImpact']

/** A transaction of a step in which an oracle answer was executed, with the state before and after the step. */
export type Execution = {
  ground: Ground
  coverage: Coverage
  before: Snapshot
  after: Snapshot
  receipt: Receipt
  order: PendingOrder
  /** Price of the oracles (1e10), at which holding fees accrue. */
  current: bigint
}

/** Recomputes the effect of an answered order on the trader's money. */
export async function checkExecution(
  { ground, coverage }: Pick<Execution, 'ground' | 'coverage'>,
  before: Snapshot,
  after: Snapshot,
  receipt: Receipt,
  ledger: Ledger,
): Promise<void> {
  const callback = receipt.events.find((event) => event.eventName === 'TradingCallbackExecuted')
  if (callback?.eventName !== 'TradingCallbackExecuted') return
  const { orderId, current } = callback.args.a
  const execution = { ground, coverage, before, after, receipt, order: ledger.orders.get(keyOf(orderId))!, current }
  for (const event of receipt.events) await checkOutcome(execution, event)
}

async function checkOutcome(execution: Execution, event: WorldEvent): Promise<void> {
  switch (event.eventName) {
    case 'MarketExecuted':
      return event.args.open ? checkOpen(execution, event.args) : checkClose(execution, event.args)
    case 'LimitExecuted':
      return event.args.orderType < 4 ? checkOpen(execution, event.args) : checkClose(execution, event.args)
    case 'MarketOpenCanceled':
      return checkRefusedOpen(execution, event.args)
    case 'MarketCloseCanceled':
      return checkRefusal(execution, event.args.cancelReason)
    case 'LeverageUpdateExecuted':
    case 'PositionSizeIncreaseExecuted':
    case 'PositionSizeDecreaseExecuted':
      if (event.args.cancelReason !== 0) return checkRefusal(execution, event.args.cancelReason)
      return checkChange(await changedBy(execution, event.eventName === 'LeverageUpdateExecuted'), event)
  }
}

/** Returns the changed position. A leverage update keeps what the position owes, so nothing of it is realized. */
async function changedBy(execution: Execution, isLeverageUpdate: boolean): Promise<Changed> {
  const { before, after, order, coverage } = execution
  const { trade, fees } = findTrade(before, order.trade)!
  const now = findTrade(after, order.trade)!
  const { virtualAvailableCollateralInDiamond: advanced } = fees
  if (now.fees.virtualAvailableCollateralInDiamond > advanced) coverage.count('advanced collateral')
  const holding = isLeverageUpdate ? 0n : await holdingFees(execution, trade, fees)
  const terms = await termsOf(execution, trade)
  return { order, trade, fees, newTrade: now.trade, newFees: now.fees, holding, terms }
}

const DAY_S = 86_400

/** Returns the terms of a trade's fees. The multiplier of a day is fixed with the first answer of that day. */
async function termsOf({ ground, receipt, coverage }: Execution, { user, collateralIndex }: Trade) {
  const day = Math.floor(ground.timestampS() / DAY_S)
  const { feeMultiplierCache } = await ground.read('getFeeTiersTraderDailyInfo', [user, day], receipt.blockNumber)
  if (feeMultiplierCache > 0 && feeMultiplierCache < 1_000) coverage.count('paid a discounted fee')
  return { ...formulas.scaleOf(ground, collateralIndex), tier: BigInt(feeMultiplierCache) }
}

/**
 * Returns holding fees from the accumulators after the answer. The view, read before the answer, must have returned the
 * same.
 */
async function holdingFees(execution: Execution, trade: Trade, fees: TradeFees): Promise<bigint> {
  const { ground, coverage, current, receipt, after } = execution
  const { funding: acc, borrowing: accBorrowing } = bookOf(after, trade.collateralIndex, trade.pairIndex)
  const accFunding = trade.long ? acc.accFundingFeeLongP : acc.accFundingFeeShortP
  const funding = formulas.holdingFee(trade, accFunding - fees.initialAccFundingFeeP)
  const borrowing = formulas.holdingFee(trade, accBorrowing.accBorrowingFeeP - fees.initialAccBorrowingFeeP)
  const old = formulas.oldBorrowingFee(trade, await oldBorrowingGrowth(execution, trade))
  // No time has passed since the block before.
  const args = [trade.user, trade.index, current] as const
  const view = await ground.read('getTradePendingHoldingFeesCollateral', args, receipt.blockNumber - 1)
  const perBlock = view.borrowingFeeCollateral_old
  assert.deepEqual([view.fundingFeeCollateral, view.borrowingFeeCollateral], [funding, borrowing], 'holding fees')
  // One block has passed since, which the view did not see.
  assert(perBlock <= old, `first-generation borrowing fell from ${perBlock} to ${old}`)
  assert.equal(view.totalFeeCollateral, funding + borrowing + perBlock)
  if (old > 0n) coverage.count('paid borrowing per block')
  if (funding > 0n) coverage.count('paid funding')
  if (funding < 0n) coverage.count('paid out funding')
  if (borrowing > 0n) coverage.count('paid borrowing')
  return funding + borrowing + old
}

/**
 * Returns the larger growth of the accumulators of pair and group since the trade's last change. The events of the
 * answer carry their values; checkAccumulators recomputes them.
 */
async function oldBorrowingGrowth({ ground, receipt }: Execution, trade: Trade): Promise<bigint> {
  const { user, index, collateralIndex, long } = trade
  const args = [collateralIndex, user, index] as const
  const initial = await ground.read('getBorrowingInitialAccFees', args, receipt.blockNumber - 1)
  let growth = 0n
  for (const { eventName, args: acc } of receipt.events) {
    if (eventName !== 'BorrowingPairAccFeesUpdated' && eventName !== 'BorrowingGroupAccFeesUpdated') continue
    const start = eventName === 'BorrowingPairAccFeesUpdated' ? initial.accPairFee : initial.accGroupFee
    const grown = (long ? acc.accFeeLong : acc.accFeeShort) - start
    if (grown > growth) growth = grown
  }
  return growth
}

type Executed = Pick<
  EventOf<'MarketExecuted'>,
  | 'user'
  | 'index'
  | 't'
  | 'marketPrice'
  | 'oraclePrice'
  | 'liqPrice'
  | 'priceImpact'
  | 'amountSentToTrader'
  | 'percentProfit'
>

async function checkClose(execution: Execution, event: Executed): Promise<void> {
  const { ground, before, order, receipt } = execution
  const { trade, fees } = findTrade(before, event)!
  assert.deepEqual(event.t, trade, 'the closed trade is not the one that was open')
  const terms = await termsOf(execution, trade)
  const size = formulas.sizeOf(trade)
  const isLiquidation = order.orderType === 6
  const fee = isLiquidation
    ? formulas.liquidationFee(trade.pairIndex, trade.collateralAmount)
    : formulas.tradingFee(trade.pairIndex, terms, size, trade.isCounterTrade)
  const owed = fee + (await holdingFees(execution, trade, fees)) - formulas.realizedOf(fees)
  const isReached = trade.long ? event.oraclePrice <= event.liqPrice : event.oraclePrice >= event.liqPrice
  const due = isReached ? 0n : formulas.worthOf(trade, terms, event.marketPrice, owed)
  assert.equal(event.amountSentToTrader, due, `the payout of ${keyOf(trade)}`)
  assert.equal(event.percentProfit, formulas.profitP(trade, event.marketPrice))
  if (isLiquidation) {
    assert(
      isReached,
      `${keyOf(trade)} was liquidated at ${event.oraclePrice}, its liquidation price is ${event.liqPrice}`,
    )
    assert.equal(event.marketPrice, event.oraclePrice, 'a liquidation has no impact')
    return
  }
  checkImpact(execution, trade, event.priceImpact, event.oraclePrice, event.marketPrice)
  const info = await ground.read('getTradeInfo', [trade.user, trade.index], receipt.blockNumber - 1)
  const expected = order.orderType === 1 ? order.trade.openPrice : order.orderType === 4 ? trade.tp : trade.sl
  const slippageP = info.maxSlippageP === 0 ? 1_000 : info.maxSlippageP
  assert(!formulas.isSlipped(!trade.long, event.marketPrice, expected, slippageP), 'closed beyond the slippage')
}

/**
 * Checks the price impact. Skew is recomputed; spread and volume are taken from the event, and all three must add up to
 * the execution price.
 */
function checkImpact(
  { before }: Execution,
  trade: Trade,
  impact: Impact,
  oraclePrice: bigint,
  marketPrice: bigint,
): void {
  const isBuy = !trade.long
  const book = bookOf(before, trade.collateralIndex, trade.pairIndex)
  assert.equal(impact.skewPriceImpactP, formulas.skewImpactP(book, isBuy, trade.positionSizeToken), 'skew impact')
  const sum = impact.fixedSpreadP + impact.cumulVolPriceImpactP + impact.skewPriceImpactP
  assert.equal(impact.totalPriceImpactP, sum, 'total impact')
  assert(isBuy ? impact.cumulVolPriceImpactP >= 0n : impact.cumulVolPriceImpactP <= 0n, 'volume impact has no sign')
  assert.equal(marketPrice, formulas.shifted(oraclePrice, sum), 'execution price')
}

async function checkOpen(execution: Execution, event: Executed): Promise<void> {
  const { after, before, order } = execution
  const { t } = event
  const opened = findTrade(after, t)
  assert(opened !== undefined && opened.trade.tradeType === 0, `${keyOf(t)} was opened but is not a position`)
  assert.deepEqual(opened.trade, t, 'the opened trade is not the one that is open')
  const asked = order.orderType === 0 ? order.trade : findTrade(before, order.trade)!.trade
  assert.deepEqual(
    [t.collateralAmount, t.leverage, t.long, t.tp],
    [asked.collateralAmount, asked.leverage, asked.long, asked.tp],
  )
  assert.equal(t.openPrice, event.marketPrice)
  assert.equal(event.amountSentToTrader, 0n)

  const terms = await termsOf(execution, t)
  const size = formulas.sizeOf(t)
  const beforeSkew = event.priceImpact.fixedSpreadP + event.priceImpact.cumulVolPriceImpactP
  const p1 = formulas.shifted(event.oraclePrice, beforeSkew)
  assert.equal(t.positionSizeToken, (size * terms.delta * 10n ** 10n) / p1, 'tokens')
  const fee = formulas.tradingFee(t.pairIndex, terms, size, t.isCounterTrade)
  checkFreshFees(opened.fees, fee)
  assert(t.long ? event.liqPrice < event.oraclePrice : event.liqPrice > event.oraclePrice, 'opened beyond liquidation')
  assert(t.tp === 0n || (t.long ? t.tp > t.openPrice : t.tp < t.openPrice), 'opened beyond its take profit')
  assert(
    t.sl === 0n || (t.long ? t.sl < event.oraclePrice : t.sl > event.oraclePrice) || asked.sl !== t.sl,
    'beyond its stop',
  )
  if (order.orderType !== 0) return
  assert(!formulas.isSlipped(t.long, t.openPrice, asked.openPrice, order.maxSlippageP), 'opened beyond the slippage')
}

function checkFreshFees(fees: TradeFees, openingFee: bigint): void {
  assert.equal(formulas.realizedOf(fees), -openingFee, 'the opening fee')
  assert.equal(fees.virtualAvailableCollateralInDiamond, 0n)
}

async function checkRefusedOpen(execution: Execution, event: EventOf<'MarketOpenCanceled'>): Promise<void> {
  const { trade } = execution.order
  const { collateralAmount, pairIndex } = trade
  const fee = formulas.minGovFee(pairIndex, await termsOf(execution, trade))
  assert.equal(event.collateralReturned, collateralAmount > fee ? collateralAmount - fee : 0n)
}

/** Checks that a refused change left the position as it was except for the fee. Without a position nobody pays. */
async function checkRefusal(execution: Execution, cancelReason: number): Promise<void> {
  const { before, after, order } = execution
  const was = findTrade(before, order.trade)
  const is = findTrade(after, order.trade)
  if (cancelReason === 9) {
    assert.equal(was, undefined, 'refused for want of a trade that is there')
    return
  }
  assert(was !== undefined && is !== undefined)
  assert.deepEqual(is.trade, was.trade, 'a refused request changed the trade')
  const fee = formulas.minGovFee(was.trade.pairIndex, await termsOf(execution, was.trade))
  assert.equal(formulas.realizedOf(is.fees), formulas.realizedOf(was.fees) - fee, 'the fee of a refused request')
}
