import { abs, PendingOrderType, Price, TokenSize, Usd } from '@bezel/protocol'
import type { Market, Moment, ValuedPosition } from '../chainState.ts'
import { collateralOfUsd, positionSizeCollateral, usdOfCollateral } from '../collateralAmounts.ts'
import { minFeeUsd } from '../fees.ts'
import { holdingFees, pendingBorrowingP } from '../holdingFees.ts'
import { isLiquidationReached, liquidationPrice } from '../liquidation.ts'
import { maxOpenInterestCollateral } from '../openInterest.ts'
import { pendingFunding } from '../funding.ts'
import { profitP, realizedCollateral } from '../profit.ts'
import { skewImpactP, traderSpreadP, closeVolumeImpactP, openVolumeImpactP, activeVolumeUsd } from '../priceImpact.ts'
import { compare, latestMoment, nearby, priceOf, upTo, witness, type Campaign, type HeldPosition } from './campaign.ts'

const WHOLE = 10n ** 18n

const NOT_HIT = 11

/** Compares everything that the views say about a position, its pair and its trader, at a price near the oracle's. */
export async function compareViews(
  c: Campaign,
  { account, index, pairIndex, collateralIndex }: HeldPosition,
): Promise<void> {
  const market = await c.reader.market(account.address, pairIndex, collateralIndex)
  const position = await c.reader.position(account.address, index)
  const price = nearby(c, priceOf(c, pairIndex), 50_000)
  await comparePosition(c, position, market, price)
  await comparePending(c, pairIndex, collateralIndex, market)
  await compareImpacts(c, position, market)
  await compareListing(c, position, market)
  await compareLiquidation(c, position, market)
}

/** Compares the accumulators computed from a state that was read earlier. */
export async function comparePending(
  c: Campaign,
  pairIndex: number,
  collateralIndex: number,
  { pair, collateral }: Market,
): Promise<void> {
  const price = nearby(c, priceOf(c, pairIndex), 50_000)
  const { timestampS } = latestMoment(c)
  const { accFundingFeeLongP, accFundingFeeShortP, fundingRatePerSecondP } = pendingFunding(
    pair,
    collateral,
    price,
    timestampS,
  )
  const args = [collateralIndex, pairIndex, price] as const
  const funding = await c.world.read('getPairPendingAccFundingFees', args)
  compare(c, 'pending funding', [accFundingFeeLongP, accFundingFeeShortP, fundingRatePerSecondP], funding)
  const { fundingData, fundingParams } = pair
  const cap = BigInt(fundingParams.absoluteRatePerSecondCap) * 10n ** 8n
  witness(c, 'funding rate at its cap', cap > 0n && abs(fundingRatePerSecondP) === cap)
  witness(c, 'funding rate changed sign', fundingRatePerSecondP * fundingData.lastFundingRatePerSecondP < 0n)
  witness(c, 'funding rate on its way', cap > 0n && fundingRatePerSecondP !== 0n && abs(fundingRatePerSecondP) < cap)
  const borrowing = await c.world.read('getPairPendingAccBorrowingFees', args)
  compare(c, 'pending borrowing', pendingBorrowingP(pair, price, timestampS), borrowing)
}

async function comparePosition(c: Campaign, position: ValuedPosition, market: Market, price: bigint): Promise<void> {
  const { trade, feesData } = position
  const moment = latestMoment(c)
  const fees = holdingFees(position, market.pair, market.collateral, Price.of(price), moment)
  const onChain = await c.world.read('getTradePendingHoldingFeesCollateral', [trade.user, trade.index, price])
  const { oldBorrowingFeeCollateral, ...ours } = fees
  compare(c, 'holding fees', { ...ours, borrowingFeeCollateral_old: oldBorrowingFeeCollateral }, onChain)
  witness(c, 'funding paid', fees.fundingFeeCollateral > 0n)
  witness(c, 'funding received', fees.fundingFeeCollateral < 0n)
  witness(c, 'borrowing paid', fees.borrowingFeeCollateral > 0n)
  witness(c, 'first-generation borrowing paid', fees.oldBorrowingFeeCollateral > 0n)
  const liqPrice = liquidationPrice(position, market, Price.of(price), moment)
  compare(c, 'liquidation price', liqPrice, await readLiquidationPrice(c, position, price))
  const [, , realized] = await c.world.read('getTradeRealizedPnlCollateral', [trade.user, trade.index])
  compare(c, 'realised', realizedCollateral(feesData), realized)
}

function readLiquidationPrice(
  c: Campaign,
  { trade, liquidationParams }: ValuedPosition,
  price: bigint,
): Promise<bigint> {
  const input = {
    collateralIndex: trade.collateralIndex,
    trader: trade.user,
    pairIndex: trade.pairIndex,
    index: trade.index,
    openPrice: trade.openPrice,
    long: trade.long,
    collateral: trade.collateralAmount,
    leverage: BigInt(trade.leverage),
    additionalFeeCollateral: 0n,
    liquidationParams,
    currentPairPrice: price,
    isCounterTrade: trade.isCounterTrade,
    partialCloseMultiplier: WHOLE,
    beforeOpened: false,
  }
  return c.world.read('getTradeLiquidationPrice', [input])
}

async function compareImpacts(c: Campaign, { trade, info }: ValuedPosition, market: Market): Promise<void> {
  const { user, pairIndex, collateralIndex } = trade
  const moment: Moment = latestMoment(c)
  const sizeUsd = upTo(c, Usd.of(2_000_000n * WHOLE))
  const long = c.random.chance(0.5)
  const { lastPosIncreaseBlock } = info
  const lastBlock = BigInt(lastPosIncreaseBlock)
  const opened = await c.world.read('getTradeCumulVolPriceImpactP', [user, pairIndex, long, sizeUsd, false, true, 0n])
  compare(c, 'volume impact of an open', openVolumeImpactP(long, sizeUsd, market, moment), opened)
  const isPnlPositive = c.random.chance(0.7)
  const args = [user, pairIndex, long, sizeUsd, isPnlPositive, false, lastBlock] as const
  const closed = await c.world.read('getTradeCumulVolPriceImpactP', args)
  const close = { long, sizeUsd, isPnlPositive, lastPosIncreaseBlock }
  compare(c, 'volume impact of a close', closeVolumeImpactP(close, market, moment), closed)
  const unprotected = closeVolumeImpactP({ ...close, isPnlPositive: false }, market, moment)
  witness(c, 'volume impact', opened !== 0n)
  witness(c, 'volume from before', activeVolumeUsd(market.volume, long, moment.timestampS) > 0n)
  witness(c, 'close with protection factor', unprotected !== closed)
  const size = upTo(c, TokenSize.of(1_000n * WHOLE))
  for (const open of [true, false]) {
    const skew = await c.world.read('getTradeSkewPriceImpactP', [collateralIndex, pairIndex, long, size, open])
    compare(c, 'skew impact', skewImpactP(long === open, size, market.pair), skew)
    witness(c, 'skew against the trade', skew !== 0n && skew > 0n === (long === open))
    witness(c, 'skew for the trade', skew !== 0n && skew > 0n !== (long === open))
  }
}

async function compareListing(c: Campaign, { trade }: ValuedPosition, market: Market): Promise<void> {
  const { user, pairIndex, collateralIndex } = trade
  const { listing, collateral, pair, terms, volume } = market
  const index = BigInt(pairIndex)
  const size = positionSizeCollateral(trade)
  const sizeUsd = usdOfCollateral(size, collateral)
  compare(c, 'USD of a size', sizeUsd, await c.world.read('getUsdNormalizedValue', [collateralIndex, size]))
  const back = await c.world.read('getCollateralFromUsdNormalizedValue', [collateralIndex, sizeUsd])
  compare(c, 'size of USD', collateralOfUsd(sizeUsd, collateral), back)
  compare(c, 'spread', traderSpreadP(listing, terms), await c.world.read('pairSpreadP', [user, index]))
  compare(c, 'minimum fee', minFeeUsd(listing), await c.world.read('pairMinFeeUsd', [index]))
  const maxOi = await c.world.read('getPairMaxOiCollateral', [collateralIndex, pairIndex])
  compare(c, 'maximum open interest', maxOpenInterestCollateral({ pair, collateral }), maxOi)
  const isBuy = c.random.chance(0.5)
  const volumeUsd = activeVolumeUsd(volume, isBuy, latestMoment(c).timestampS)
  compare(c, 'active volume', volumeUsd, await c.world.read('getPriceImpactOi', [index, isBuy]))
}

/**
 * Triggers a liquidation exactly at the computed price, one unit before and one unit beyond: the chain must draw the
 * line at the same price.
 */
async function compareLiquidation(c: Campaign, position: ValuedPosition, market: Market): Promise<void> {
  const { trade } = position
  const moment = latestMoment(c)
  const current = priceOf(c, trade.pairIndex)
  const liqPrice = liquidationPrice(position, market, current, moment)
  if (liqPrice < 2n || liqPrice >= 2n ** 56n) return
  for (const price of [liqPrice - 1n, liqPrice, liqPrice + 1n]) {
    const id = { user: trade.user, index: trade.index }
    const args = [id, PendingOrderType.LIQ_CLOSE, price, price, price, current] as const
    const [, values] = await c.world.read('validateTriggerCloseOrderCallback', args)
    const isReached = isLiquidationReached(liqPrice, trade.long, Price.of(price))
    compare(c, 'liquidation reached', isReached, values.cancelReason !== NOT_HIT)
    if (!isReached) continue
    compare(c, 'liquidation price of a trigger', liqPrice, values.liqPrice)
    compare(c, 'execution price of a liquidation', price, values.executionPrice)
    compare(c, 'profit of a liquidation', profitP(trade, Price.of(price)), values.profitP)
    compare(c, 'payout of a liquidation', 0n, values.amountSentToTrader)
  }
}
