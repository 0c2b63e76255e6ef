import { CollateralAmount, Price, withScales } from '@bezel/protocol'
import { onlyEvent, type Outcome } from '../../../../../../contracts/test/world.ts'
import { positionSizeCollateral } from '../collateralAmounts.ts'
import type { Market, ValuedPosition, Trade, TradeFeesData } from '../chainState.ts'
import { quoteClose, quotePartialClose } from '../quotes.ts'
import { cancelFeeCollateral, minCollateral, rawTradingFeeCollateral } from '../fees.ts'
import { carriedFeesCollateral } from '../holdingFees.ts'
import { liquidationPrice, liquidationPriceOwing, clampStopLoss } from '../liquidation.ts'
import { partByCollateral, partByLeverage } from '../resizing.ts'
import { profitP } from '../profit.ts'
import {
  compare,
  forget,
  GOV_FEE_P,
  latestMoment,
  priceOf,
  revertName,
  valuedFees,
  witness,
  type Campaign,
  type HeldPosition,
} from './campaign.ts'

/** Closes a position at market; now and then it slips. */
export async function closeTrade(c: Campaign, held: HeldPosition): Promise<void> {
  const { account, index, pairIndex, collateralIndex } = held
  const market = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = priceOf(c, pairIndex)
  const expected = quoteClose(position, price, market, latestMoment(c)).impact.priceAfterImpact
  const slips = c.random.chance(0.15)
  const asked = !slips ? expected : position.trade.long ? expected * 2n : expected / 2n
  const request = await c.world.send(account, 'closeTradeMarket', [index, asked])
  const answered = await c.world.answer(onlyEvent(request, 'MarketOrderInitiated').orderId, price)
  if (slips) return compareRefusedClose(c, answered, position, market)
  compareClosed(c, answered, position, market, price)
  forget(c, account.address, index)
}

/** Compares a refused close, which leaves the trade and charges it the cancel fee. */
async function compareRefusedClose(
  c: Campaign,
  answered: Outcome,
  { trade, feesData }: ValuedPosition,
  market: Market,
) {
  const fee = cancelFeeCollateral(GOV_FEE_P, market.listing, market.collateral)
  compare(c, 'cancel fee of a close', fee, onlyEvent(answered, 'GovFeeCharged').amountCollateral)
  const after = await c.reader.position(trade.user, trade.index)
  const { amountSentFromVaultCollateral: advanced } = onlyEvent(answered, 'TradingFeesRealized')
  const expected = withScales<TradeFeesData>({
    ...feesData,
    realizedTradingFeesCollateral: feesData.realizedTradingFeesCollateral + fee - advanced,
    realizedPnlCollateral: feesData.realizedPnlCollateral - advanced,
  })
  compare(c, 'fees data after a refusal', valuedFees(expected), valuedFees(after.feesData))
}

function compareClosed(c: Campaign, answered: Outcome, position: ValuedPosition, market: Market, price: Price): void {
  const executed = onlyEvent(answered, 'MarketExecuted')
  const moment = latestMoment(c)
  const quote = quoteClose(position, price, market, moment)
  const unprotected = quoteClose(position, price, market, { ...moment, blockNumber: Number.MAX_SAFE_INTEGER })
  witness(c, 'protected execution', unprotected.impact.priceAfterImpact !== quote.impact.priceAfterImpact)
  witness(c, 'closed with a profit', quote.payoutCollateral > position.trade.collateralAmount)
  witness(c, 'closed with a loss', quote.payoutCollateral < position.trade.collateralAmount)
  compare(c, 'price impact of a close', quote.impact, executed.priceImpact)
  compare(c, 'execution price of a close', quote.impact.priceAfterImpact, executed.marketPrice)
  compare(c, 'profit of a close', quote.profitP, executed.percentProfit)
  compare(c, 'payout', quote.payoutCollateral, executed.amountSentToTrader)
  compare(c, 'closing fee', quote.closingFeeCollateral, onlyEvent(answered, 'FeesProcessed').totalFeesCollateral)
  compare(
    c,
    'liquidation price at close',
    liquidationPrice(position, market, price, moment.timestampS),
    executed.liqPrice,
  )
}

/** Closes a part of a position, by collateral or by leverage. */
export async function decreaseSize(c: Campaign, held: HeldPosition): Promise<void> {
  const { account, index, pairIndex, collateralIndex } = held
  const market = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = priceOf(c, pairIndex)
  const part = randomPart(c, position.trade)
  const isByLeverage = part.leverage !== position.trade.leverage
  const { impact } = quotePartialClose(position, part, price, market, latestMoment(c))
  const collateralDelta = isByLeverage ? 0n : part.collateralAmount
  const leverageDelta = isByLeverage ? part.leverage : 0
  const args = [index, collateralDelta, leverageDelta, impact.priceAfterImpact] as const
  const request = await c.world.send(account, 'decreasePositionSize', args).catch(revertName)
  const left = position.trade.collateralAmount - collateralDelta
  const isTooSmall = left < minCollateral(1n, market.listing, market.collateral)
  compare(c, 'refusal of a decrease', isTooSmall, request === 'InsufficientCollateral')
  if (typeof request === 'string') return
  const answered = await c.world.answer(onlyEvent(request, 'PositionSizeUpdateInitiated').orderId, price)
  await compareDecreased(c, answered, position, part, market)
}

function randomPart(c: Campaign, trade: Trade): Trade {
  const percent = c.random.int(1, 95)
  const leverageDelta = Math.floor((trade.leverage * percent) / 100)
  const isByLeverage = c.random.chance(0.4) && leverageDelta > 0 && trade.leverage - leverageDelta >= 100
  if (isByLeverage) return partByLeverage(trade, leverageDelta)
  return partByCollateral(trade, CollateralAmount.of((trade.collateralAmount * BigInt(percent)) / 100n))
}

async function compareDecreased(c: Campaign, answered: Outcome, position: ValuedPosition, part: Trade, market: Market) {
  const { values, cancelReason, oraclePrice } = onlyEvent(answered, 'PositionSizeDecreaseExecuted')
  const moment = latestMoment(c)
  const quote = quotePartialClose(position, part, Price.of(oraclePrice), market, moment)
  compare(c, 'price impact of a partial close', quote.impact, values.priceImpact)
  compare(c, 'closing fee of a part', quote.closingFeeCollateral, values.closingFeeCollateral)
  compare(c, 'raw PnL of a part', quote.rawPnlCollateral, values.partialRawPnlCollateral)
  const existingP = profitP(position.trade, quote.impact.priceAfterImpact)
  compare(c, 'profit at a partial close', existingP, values.existingPnlPercent)
  const collateralAmount = CollateralAmount.of(values.newCollateralAmount)
  const rest = { ...position.trade, collateralAmount, leverage: values.newLeverage }
  const { listing, collateral, pair } = market
  const { liquidationParams } = position
  const owed =
    rawTradingFeeCollateral(positionSizeCollateral(rest), rest.isCounterTrade, listing, collateral) +
    carriedFeesCollateral(position, pair, collateral, Price.of(oraclePrice), moment.timestampS) -
    values.pnlToRealizeCollateral
  const newLiqPrice = liquidationPriceOwing(CollateralAmount.of(owed), rest, liquidationParams, market)
  compare(c, 'liquidation price after a partial close', newLiqPrice, values.newLiqPrice)
  if (cancelReason !== 0) return
  const { newSl } = onlyEvent(answered, 'TradePositionUpdated')
  compare(c, 'stop loss after a partial close', clampStopLoss(rest, liquidationParams, listing), newSl)
}
