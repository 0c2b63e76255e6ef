import { CollateralAmount, Leverage, Price } from '@bezel/protocol'
import { onlyEvent, type Outcome } from '../../../../../../contracts/test/world.ts'
import { positionSizeCollateral } from '../collateralAmounts.ts'
import type { Market, ValuedPosition, Trade } from '../chainState.ts'
import { quoteLeverage, tradingFeeCollateral, type LeverageQuote } from '../quotes.ts'
import { leverageRefusal } from '../refusals.ts'
import { effectiveLeverage, increasedOpenPrice, increasedSize, type Increase } from '../resizing.ts'
import { priceOpen } from '../priceImpact.ts'
import { realizedCollateral } from '../profit.ts'
import { rawTradingFeeCollateral } from '../fees.ts'
import { carriedFeesCollateral, holdingFees } from '../holdingFees.ts'
import { liquidationPrice, liquidationPriceOwing, clampStopLoss } from '../liquidation.ts'
import {
  compare,
  compareReason,
  GOV_FEE_P,
  latestMoment,
  priceOf,
  revertName,
  upTo,
  withTermsOfAnswer,
  witness,
  type Campaign,
  type HeldPosition,
} from './campaign.ts'

const WIDE_SLIPPAGE_P = 60_000

/** Effective leverage that the chain returns for a trade that would be worth nothing. */
const WORTHLESS = 2n ** 256n - 1n

/** Increases a size, with collateral or by leverage only. */
export async function increaseSize(c: Campaign, held: HeldPosition): Promise<void> {
  const { account, index, pairIndex, collateralIndex } = held
  const before = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = priceOf(c, pairIndex)
  const isByLeverage = c.random.chance(0.3)
  const collateralDelta = isByLeverage ? CollateralAmount.zero : upTo(c, position.trade.collateralAmount)
  const leverageDelta = c.random.logInt(
    200,
    Math.max(201, Math.floor(position.trade.leverage * (isByLeverage ? 0.3 : 1))),
  )
  const args = [index, collateralDelta, leverageDelta, price, WIDE_SLIPPAGE_P] as const
  const request = await c.world.send(account, 'increasePositionSize', args)
  const answered = await c.world.answer(onlyEvent(request, 'PositionSizeUpdateInitiated').orderId, price)
  const market = await withTermsOfAnswer(c, before, account.address, pairIndex)
  await compareIncreased(c, answered, position, increasedSize(position.trade, collateralDelta, leverageDelta), market)
}

async function compareIncreased(
  c: Campaign,
  answered: Outcome,
  position: ValuedPosition,
  { collateralAmount, leverage, addedSizeCollateral: addedSize }: Increase,
  market: Market,
): Promise<void> {
  const { values, cancelReason, oraclePrice: answeredPrice } = onlyEvent(answered, 'PositionSizeIncreaseExecuted')
  const oraclePrice = Price.of(answeredPrice)
  const { trade } = position
  const { listing } = market
  compare(c, 'size added by an increase', addedSize, values.positionSizeCollateralDelta)
  // A change so small that rounding swallows it is refused without a look at its price.
  if (addedSize === 0n) return
  const impact = priceOpen(trade.long, addedSize, oraclePrice, market, latestMoment(c))
  compare(c, 'price impact of an increase', impact, values.priceImpact)
  const openPrice = increasedOpenPrice(trade, addedSize, impact.priceAfterImpact)
  compare(c, 'open price after an increase', openPrice, values.newOpenPrice)
  const fee = tradingFeeCollateral(addedSize, trade.isCounterTrade, market)
  compare(c, 'fee of an increase', fee, values.openingFeesCollateral)
  const next = { ...trade, collateralAmount, leverage, openPrice }
  const refreshed = { ...position, liquidationParams: listing.liquidationParams }
  compareChange(c, refreshed, next, fee, oraclePrice, market, values)
  compareEffective(c, refreshed, next, fee, oraclePrice, market, values)
  const before = liquidationPrice(position, market, oraclePrice, latestMoment(c))
  compare(c, 'liquidation price before an increase', before, values.existingLiqPrice)
  if (cancelReason !== 0) return
  const pending = holdingFees(position, market.pair, market.collateral, oraclePrice, latestMoment(c))
  const settled = pending.totalFeeCollateral
  const after = await compareChanged(c, answered, refreshed, next, CollateralAmount.of(fee + settled), market)
  const reread = await c.reader.market(trade.user, trade.pairIndex, trade.collateralIndex)
  const owed = holdingFees(after, reread.pair, reread.collateral, oraclePrice, latestMoment(c))
  compare(c, 'holding fees right after an increase', owed.totalFeeCollateral, 0n)
}

/** Updates a leverage: the size stays and so does what it owes; collateral moves. */
export async function changeLeverage(c: Campaign, held: HeldPosition): Promise<void> {
  const { account, index, pairIndex, collateralIndex } = held
  const before = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = priceOf(c, pairIndex)
  const { trade } = position
  const leverage = Math.max(200, Math.floor((trade.leverage * c.random.int(50, 180)) / 100))
  const request = await c.world.send(account, 'updateLeverage', [index, leverage]).catch(revertName)
  if (typeof request === 'string') return
  const answered = await c.world.answer(onlyEvent(request, 'LeverageUpdateInitiated').orderId, price)
  const market = await withTermsOfAnswer(c, before, account.address, pairIndex)
  const { values, cancelReason } = onlyEvent(answered, 'LeverageUpdateExecuted')
  const quote = quoteLeverage(position, Leverage.of(leverage), GOV_FEE_P, price, market, latestMoment(c))
  compareLeverage(c, quote, values, leverage > trade.leverage)
  const maxLeverage = Leverage.of(await c.world.read('pairMaxLeverage', [BigInt(pairIndex)]))
  const reason = leverageRefusal(trade, quote, price, maxLeverage)
  compareReason(c, 'reason for refusing a leverage update', reason, cancelReason)
  if (cancelReason === 0) await compareChanged(c, answered, position, quote.trade, quote.feeCollateral, market)
}

function compareLeverage(
  c: Campaign,
  quote: LeverageQuote,
  values: {
    govFeeCollateral: bigint
    newCollateralAmount: bigint
    existingLiqPrice: bigint
    newLiqPrice: bigint
    newEffectiveLeverage: bigint
  },
  isIncrease: boolean,
): void {
  compare(c, 'fee of a leverage update', quote.feeCollateral, values.govFeeCollateral)
  compare(c, 'collateral after a leverage update', quote.trade.collateralAmount, values.newCollateralAmount)
  compare(c, 'liquidation price before a leverage update', quote.liquidationPriceBefore, values.existingLiqPrice)
  compare(c, 'liquidation price after a change', quote.liquidationPrice, values.newLiqPrice)
  // The chain tells it for a rise only.
  if (isIncrease) compare(c, 'effective leverage', quote.effectiveLeverage ?? WORTHLESS, values.newEffectiveLeverage)
}

/** Compares the risk of a trade after the change. */
function compareChange(
  c: Campaign,
  position: ValuedPosition,
  next: Trade,
  fee: CollateralAmount,
  price: Price,
  market: Market,
  values: { newLiqPrice: bigint },
): void {
  const { listing, collateral, pair } = market
  const carried = carriedFeesCollateral(position, pair, collateral, price, latestMoment(c))
  const closingFee = rawTradingFeeCollateral(positionSizeCollateral(next), next.isCounterTrade, listing, collateral)
  const liqPrice = liquidationPriceOwing(
    CollateralAmount.of(closingFee + carried + fee),
    next,
    position.liquidationParams,
    market,
  )
  compare(c, 'liquidation price after a change', liqPrice, values.newLiqPrice)
}

function compareEffective(
  c: Campaign,
  position: ValuedPosition,
  next: Trade,
  fee: CollateralAmount,
  price: Price,
  { pair, collateral }: Market,
  values: { newEffectiveLeverage: bigint },
): void {
  const carried = carriedFeesCollateral(position, pair, collateral, price, latestMoment(c))
  const effective = effectiveLeverage(next, CollateralAmount.of(fee + carried), price, collateral) ?? WORTHLESS
  compare(c, 'effective leverage', effective, values.newEffectiveLeverage)
}

/** Compares the changed trade, from which `charged` was taken. How that is split, only events say. */
async function compareChanged(
  c: Campaign,
  answered: Outcome,
  position: ValuedPosition,
  next: Trade,
  charged: CollateralAmount,
  market: Market,
): Promise<ValuedPosition> {
  const { trade, feesData, liquidationParams } = position
  const { newSl } = onlyEvent(answered, 'TradePositionUpdated')
  compare(c, 'stop loss after a change', clampStopLoss(next, liquidationParams, market.listing), newSl)
  const after = await c.reader.position(trade.user, trade.index)
  const realized = realizedCollateral(feesData) - charged
  compare(c, 'realised after a change', realized, realizedCollateral(after.feesData))
  const told = onlyEvent(answered, 'TradingFeesRealized')
  const { realizedTradingFeesCollateral, realizedPnlCollateral } = after.feesData
  const record = [realizedTradingFeesCollateral, realizedPnlCollateral]
  compare(c, 'record after a change', [told.newRealizedFeesCollateral, told.newRealizedPnlCollateral], record)
  return after
}

/** Sets a stop loss anywhere; the Diamond may move it. */
export async function moveStopLoss(
  c: Campaign,
  { account, index, pairIndex, collateralIndex }: HeldPosition,
): Promise<void> {
  const { listing } = await c.reader.market(account.address, pairIndex, collateralIndex)
  const { trade, liquidationParams } = await c.reader.position(account.address, index)
  const distance = (trade.openPrice * BigInt(c.random.int(1, 99_999))) / 100_000n
  const sl = Price.of(trade.long ? trade.openPrice - distance : trade.openPrice + distance)
  const outcome = await c.world.send(account, 'updateSl', [index, sl])
  const expected = clampStopLoss({ ...trade, sl }, liquidationParams, listing)
  witness(c, 'stop loss clamped', expected !== sl)
  witness(c, 'stop loss kept', expected === sl)
  compare(c, 'stop loss moved', expected, onlyEvent(outcome, 'TradeSlUpdated').newSl)
}
