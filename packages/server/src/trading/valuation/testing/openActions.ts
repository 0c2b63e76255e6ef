import { CancelReason, Leverage, Slippage, Usd, withScales } from '@bezel/protocol'
import { zeroAddress } from 'viem'
import { onlyEvent, type Outcome } from '../../../../../../contracts/test/world.ts'
import type { Market, Trade } from '../chainState.ts'
import { collateralOfUsd } from '../collateralAmounts.ts'
import { cancelFeeCollateral, MIN_FEES_ON_OPEN, minCollateral } from '../fees.ts'
import { quoteOpen, type OpenQuote } from '../quotes.ts'
import { pendingBorrowingP } from '../holdingFees.ts'
import { pendingFunding } from '../funding.ts'
import { netTokens } from '../priceImpact.ts'
import { clampStopLoss } from '../liquidation.ts'
import { openingRefusal } from '../refusals.ts'
import {
  ACCOUNTS,
  COLLATERAL_INDICES,
  compare,
  compareReason,
  GOV_FEE_P,
  latestMoment,
  priceOf,
  refusedBy,
  revertName,
  valuedFees,
  withTermsOfAnswer,
  witness,
  type Campaign,
} from './campaign.ts'
import { PAIR } from './prepareChain.ts'

/** Slippage limits, 1e3 per percent: with the wide one nothing slips, with the tight one almost everything. */
const WIDE_SLIPPAGE_P = 60_000

const TIGHT_SLIPPAGE_P = 1

const USD = 10n ** 18n

/** Pairs by how often they are traded; the busy ones develop a skew that changes sign. */
const TRADED = [
  { weight: 4, pairIndex: PAIR.LINK },
  { weight: 3, pairIndex: PAIR.BTC },
  { weight: 1, pairIndex: PAIR.SOL },
  { weight: 1, pairIndex: PAIR.EUR },
]

/** Opens a trade at market and compares everything that its events and the stored trade say. */
export async function openTrade(c: Campaign): Promise<void> {
  const account = c.random.pick(ACCOUNTS)
  const pairIndex = c.random.weighted(TRADED).pairIndex
  const collateralIndex = c.random.pick(COLLATERAL_INDICES)
  const before = await c.reader.market(account.address, pairIndex, collateralIndex)
  const trade = randomTrade(c, pairIndex, collateralIndex, before)
  const slippageP = c.random.chance(0.1) ? TIGHT_SLIPPAGE_P : WIDE_SLIPPAGE_P
  const args = [{ ...trade, __placeholder: 0 }, slippageP, zeroAddress] as const
  const request = await c.world.send(account, 'openTrade', args).catch(revertName)

  const { isImpactTooHigh } = quoteOpen(trade, trade.openPrice, before, latestMoment(c))
  const isTooSmall = trade.collateralAmount < minCollateral(MIN_FEES_ON_OPEN, before.listing, before.collateral)
  const refusal = isTooSmall ? 'InsufficientCollateral' : isImpactTooHigh ? 'PriceImpactTooHigh' : undefined
  compare(c, 'refusal of openTrade', refusal, typeof request === 'string' ? request : undefined)
  if (typeof request === 'string') return

  const { orderId } = onlyEvent(request, 'MarketOrderInitiated')
  const answered = await c.world.answer(orderId, trade.openPrice)
  const market = await withTermsOfAnswer(c, before, account.address, pairIndex)
  witness(c, 'fee tier', market.terms.feeMultiplier < 1_000)
  // Quoted at the block of the answer, with the state from before the request, which changes none of it.
  const quote = quoteOpen(trade, trade.openPrice, market, latestMoment(c))
  const maxLeverage = Leverage.of(await c.world.read('pairMaxLeverage', [BigInt(pairIndex)]))
  const asked = { expected: trade.openPrice, slippage: Slippage.of(slippageP) }
  const reason = openingRefusal(trade, quote, trade.openPrice, asked, maxLeverage, market)
  const refused = refusedBy(answered, 'MarketOpenCanceled')
  // The service opens no counter trades, whose own limit comes last.
  if (refused !== CancelReason.COUNTER_TRADE_CANCELED) compareReason(c, 'reason for refusing an open', reason, refused)
  if (refused !== CancelReason.NONE) {
    compareRefund(c, answered, market, trade.collateralAmount)
    return
  }
  compareOpened(c, answered, trade, quote, market)
  c.held.push({ account, index: onlyEvent(answered, 'MarketExecuted').index, pairIndex, collateralIndex })
  await compareStored(c, answered, quote, market)
}

function randomTrade(c: Campaign, pairIndex: number, collateralIndex: number, market: Market): Trade {
  const { random } = c
  const net = netTokens(market.pair)
  // Mostly against the skew, so that skew and funding rate change sign now and then.
  const long = random.chance(0.35) ? net > 0n : net <= 0n
  const isForex = pairIndex === PAIR.EUR
  const leverage = isForex ? random.logInt(10_000, 500_000) : random.logInt(1_100, 150_000)
  const isCounterTrade = !isForex && leverage <= 25_000 && net > 0n !== long && random.chance(0.5)
  const openPrice = priceOf(c, pairIndex)
  const distance = (openPrice * BigInt(random.int(1, 99))) / 100n
  const sl = random.chance(0.5) ? 0n : long ? openPrice - distance : openPrice + distance
  const collateralAmount = randomCollateral(c, market)
  const terms = { user: zeroAddress, index: 0, isOpen: false, tradeType: 0, tp: 0n, positionSizeToken: 0n } as const
  const asked = { pairIndex, leverage, long, collateralIndex, collateralAmount, openPrice, sl, isCounterTrade }
  return withScales<Trade>({ ...terms, ...asked })
}

/** Returns mostly an amount that the Diamond accepts, now and then exactly its minimum or one unit less. */
function randomCollateral({ random }: Campaign, { listing, collateral }: Market): bigint {
  const least = minCollateral(MIN_FEES_ON_OPEN, listing, collateral)
  if (random.chance(0.06)) return random.chance(0.5) ? least : least - 1n
  return (
    least + collateralOfUsd(Usd.of(BigInt(random.logInt(50, 30_000)) * USD), collateral) + BigInt(random.int(0, 999))
  )
}

function compareRefund(c: Campaign, answered: Outcome, market: Market, paid: bigint): void {
  const fee = cancelFeeCollateral(GOV_FEE_P, market)
  compare(c, 'cancel fee of an open', fee, onlyEvent(answered, 'GovFeeCharged').amountCollateral)
  compare(c, 'refund', paid - fee, onlyEvent(answered, 'MarketOpenCanceled').collateralReturned)
}

function compareOpened(c: Campaign, answered: Outcome, trade: Trade, quote: OpenQuote, market: Market): void {
  const executed = onlyEvent(answered, 'MarketExecuted')
  witness(c, 'counter trade', trade.isCounterTrade)
  witness(c, 'stop loss clamped at open', executed.t.sl !== trade.sl)
  compare(c, 'price impact of an open', quote.impact, executed.priceImpact)
  compare(c, 'execution price of an open', quote.impact.priceAfterImpact, executed.marketPrice)
  compare(c, 'open price', quote.impact.priceAfterImpact, executed.t.openPrice)
  compare(c, 'position size in tokens', quote.impact.positionSizeToken, executed.t.positionSizeToken)
  compare(c, 'liquidation price at open', quote.liquidationPrice, executed.liqPrice)
  compare(c, 'opening fee', quote.openingFeeCollateral, onlyEvent(answered, 'FeesProcessed').totalFeesCollateral)
  const opened = { ...trade, openPrice: quote.impact.priceAfterImpact }
  compare(
    c,
    'stop loss at open',
    clampStopLoss(opened, market.listing.liquidationParams, market.listing),
    executed.t.sl,
  )
}

/** Compares the start of the trade: the accumulators of its block, and the opening fee as its realised trading fee. */
async function compareStored(c: Campaign, answered: Outcome, quote: OpenQuote, market: Market): Promise<void> {
  const { user, index, t } = onlyEvent(answered, 'MarketExecuted')
  const { timestampS } = latestMoment(c)
  const price = priceOf(c, t.pairIndex)
  const pending = pendingFunding(market.pair, market.collateral, price, timestampS)
  const { feesData } = await c.reader.position(user, index)
  const expected = {
    realizedTradingFeesCollateral: quote.openingFeeCollateral,
    realizedPnlCollateral: 0n,
    initialAccFundingFeeP: t.long ? pending.accFundingFeeLongP : pending.accFundingFeeShortP,
    initialAccBorrowingFeeP: pendingBorrowingP(market.pair, price, timestampS),
  }
  compare(c, 'fees data at open', expected, valuedFees(feesData))
}
