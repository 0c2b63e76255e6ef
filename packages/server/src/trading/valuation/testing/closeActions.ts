import { CollateralAmount, Price, Slippage, withScales } from '@bezel/protocol'
import { onlyEvent, type Outcome } from '../../../../../../contracts/test/world.ts'
import type { Market, ValuedPosition, Trade, TradeFeesData } from '../chainState.ts'
import { quoteClose, quotePartialClose, quoteRest, type PartialCloseQuote } from '../quotes.ts'
import { closeRefusal, partialCloseRefusal } from '../refusals.ts'
import { cancelFeeCollateral, minCollateral } from '../fees.ts'
import { carriedFeesCollateral, holdingFees } from '../holdingFees.ts'
import { liquidationPrice, liquidationPriceAfterChange, clampStopLoss } from '../liquidation.ts'
import { partByCollateral, partByLeverage } from '../resizing.ts'
import {
  compare,
  compareReason,
  forget,
  GOV_FEE_P,
  latestMoment,
  priceOf,
  refusedBy,
  revertName,
  valuedFees,
  withTermsOfAnswer,
  witness,
  type Campaign,
  type HeldPosition,
} from './campaign.ts'

/** Closes a position at market; now and then it slips. */
export async function closeTrade(c: Campaign, held: HeldPosition): Promise<void> {
  const { account, index, pairIndex, collateralIndex } = held
  const before = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = priceOf(c, pairIndex)
  const expected = quoteClose(position, price, before, latestMoment(c)).impact.priceAfterImpact
  const slips = c.random.chance(0.15)
  const asked = !slips ? expected : position.trade.long ? expected * 2n : expected / 2n
  const request = await c.world.send(account, 'closeTradeMarket', [index, asked])
  const answered = await c.world.answer(onlyEvent(request, 'MarketOrderInitiated').orderId, price)
  const market = await withTermsOfAnswer(c, before, account.address, pairIndex)
  const execution = quoteClose(position, price, market, latestMoment(c)).impact.priceAfterImpact
  const reason = closeRefusal(position.trade.long, execution, { expected: Price.of(asked), slippage: Slippage.one })
  compareReason(c, 'reason for refusing a close', reason, refusedBy(answered, 'MarketCloseCanceled'))
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
  const fee = cancelFeeCollateral(GOV_FEE_P, market)
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
  compare(c, 'liquidation price at close', liquidationPrice(position, market, price, moment), executed.liqPrice)
}

/** Closes a part of a position, by collateral or by leverage. */
export async function decreaseSize(c: Campaign, held: HeldPosition): Promise<void> {
  const { account, index, pairIndex, collateralIndex } = held
  const before = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = priceOf(c, pairIndex)
  const part = randomPart(c, position.trade)
  const isByLeverage = part.leverage !== position.trade.leverage
  const { impact } = quotePartialClose(position, part, price, before, latestMoment(c))
  const collateralDelta = isByLeverage ? 0n : part.collateralAmount
  const leverageDelta = isByLeverage ? part.leverage : 0
  const args = [index, collateralDelta, leverageDelta, impact.priceAfterImpact] as const
  const request = await c.world.send(account, 'decreasePositionSize', args).catch(revertName)
  const left = position.trade.collateralAmount - collateralDelta
  const isTooSmall = left < minCollateral(1n, before.listing, before.collateral)
  compare(c, 'refusal of a decrease', isTooSmall, request === 'InsufficientCollateral')
  if (typeof request === 'string') return
  const answered = await c.world.answer(onlyEvent(request, 'PositionSizeUpdateInitiated').orderId, price)
  const market = await withTermsOfAnswer(c, before, account.address, pairIndex)
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
  compare(c, 'net PnL of a part', quote.netPnlCollateral, values.partialNetPnlCollateral)
  compare(c, 'profit at a partial close', quote.profitP, values.existingPnlPercent)
  const collateralAmount = CollateralAmount.of(values.newCollateralAmount)
  const rest = { ...position.trade, collateralAmount, leverage: values.newLeverage }
  const { listing } = market
  const { liquidationParams } = position
  if (values.isLeverageUpdate) {
    const carried = carriedFeesCollateral(position, market.pair, market.collateral, Price.of(oraclePrice), moment)
    const owed = CollateralAmount.of(carried + quote.closingFeeCollateral - values.pnlToRealizeCollateral)
    const newLiqPrice = liquidationPriceAfterChange(owed, rest, liquidationParams, market)
    compare(c, 'liquidation price after a partial close', newLiqPrice, values.newLiqPrice)
  } else {
    compareRest(c, answered, position, part, quote, market)
  }
  if (cancelReason !== 0) return
  await compareRecord(c, answered, position, Price.of(oraclePrice), market)
  const { newSl } = onlyEvent(answered, 'TradePositionUpdated')
  compare(c, 'stop loss after a partial close', clampStopLoss(rest, liquidationParams, listing), newSl)
}

/** Compares what a partial close by collateral leaves, pays or is refused for. */
function compareRest(
  c: Campaign,
  answered: Outcome,
  position: ValuedPosition,
  part: Trade,
  { impact, netPnlCollateral, closingFeeCollateral }: PartialCloseQuote,
  market: Market,
): void {
  const { values, cancelReason, oraclePrice: answeredPrice } = onlyEvent(answered, 'PositionSizeDecreaseExecuted')
  const oraclePrice = Price.of(answeredPrice)
  const moment = latestMoment(c)
  const rest = quoteRest(position, part, impact, oraclePrice, market, moment)
  compare(c, 'liquidation price after a partial close', rest.liquidationPrice, values.newLiqPrice)
  const payoutCollateral = part.collateralAmount + netPnlCollateral - closingFeeCollateral
  compare(c, 'payout of a partial close', payoutCollateral, values.collateralSentToTrader)
  const liquidationPrices = [liquidationPrice(position, market, oraclePrice, moment), rest.liquidationPrice]
  const executionPrice = impact.priceAfterImpact
  // Asked for at the very price of the execution.
  const asked = { expected: executionPrice, slippage: Slippage.one }
  const of = { liquidationPrices, oraclePrice, executionPrice, payoutCollateral }
  compareReason(c, 'reason for refusing a decrease', partialCloseRefusal(position.trade, of, asked), cancelReason)
  if (cancelReason !== 0) return
  const { collateralAmount: left, newPositionSizeToken } = onlyEvent(answered, 'TradePositionUpdated')
  const { collateralAmount, positionSizeToken } = rest.trade
  compare(c, 'what is left', [collateralAmount, positionSizeToken], [left, newPositionSizeToken])
}

/**
 * Compares the record that a partial close leaves: pending fees are charged to it, then what closes takes its share of
 * it along. Only the event says how much; the stored record must be that.
 */
async function compareRecord(
  c: Campaign,
  answered: Outcome,
  position: ValuedPosition,
  price: Price,
  market: Market,
): Promise<void> {
  const { trade } = position
  const after = await c.reader.position(trade.user, trade.index)
  const downscaled = answered.events.find(({ eventName }) => eventName === 'TradeFeesDataDownscaled')
  witness(c, 'fee record scaled down', downscaled !== undefined)
  if (downscaled !== undefined) {
    const { newTradeFeesData } = onlyEvent(answered, 'TradeFeesDataDownscaled')
    compare(
      c,
      'record after a partial close',
      valuedFees(withScales<TradeFeesData>(newTradeFeesData)),
      valuedFees(after.feesData),
    )
  }
  const reread = await c.reader.market(trade.user, trade.pairIndex, trade.collateralIndex)
  const owed = holdingFees(after, reread.pair, reread.collateral, price, latestMoment(c))
  compare(c, 'holding fees right after a partial close', owed.totalFeeCollateral, 0n)
  const pending = holdingFees(position, market.pair, market.collateral, price, latestMoment(c))
  const [told] = answered.events.flatMap(({ eventName, args }) =>
    eventName === 'HoldingFeesChargedOnTrade' || eventName === 'HoldingFeesRealizedOnTrade' ? [args] : [],
  )
  const { tradeHoldingFees } = told as { tradeHoldingFees: { totalFeeCollateral: bigint } }
  compare(c, 'holding fees of a partial close', pending.totalFeeCollateral, tradeHoldingFees.totalFeeCollateral)
}
