import {
  CollateralAmount,
  Leverage,
  max,
  Price,
  Ratio,
  Slippage,
  TokenSize,
  Usd,
  type Address,
  type Fill,
  type OrderPreview,
  type OrderReason,
  type PreviewLeg,
} from '@bezel/protocol'
import { sizeDecimal, triggerDecimal } from '../market/amounts.ts'
import { sumFills } from '../orders/requestLegs.ts'
import { collateralAt, marketOfPair } from '../plan/listed.ts'
import type { ClosedPart, OrderPlan, TradingContext } from '../plan/plan.ts'
import { refuseUnpriced } from '../plan/planOpening.ts'
import { valuedPosition } from '../positions/positionAnswer.ts'
import type { Market, Moment, PairOi, Trade, ValuedPosition } from '../valuation/chainState.ts'
import { positionSizeCollateral, tokensOfTrade, usdOfCollateral } from '../valuation/collateralAmounts.ts'
import { holdingFees, type HoldingFees } from '../valuation/holdingFees.ts'
import { clampStopLoss, liquidationPrice } from '../valuation/liquidation.ts'
import { windowIdAt, type PriceImpact } from '../valuation/priceImpact.ts'
import { grossValueCollateral } from '../valuation/profit.ts'
import { quoteClose, quotePartialClose, quoteRest, type RestQuote } from '../valuation/quotes.ts'
import { closeRefusal, partialCloseRefusal } from '../valuation/refusals.ts'
import { effectiveLeverage, partByCollateral } from '../valuation/resizing.ts'
import { feeRateOf, marketOfTrade, pausedReason, ratesOf, type AccountFields } from './previewed.ts'

/** The expected close of one position, or of a part of it. */
interface Leg {
  readonly closed: ClosedPart
  readonly impact: PriceImpact
  /** The closed part, as a trade of its own. */
  readonly part: Trade
  readonly feeCollateral: CollateralAmount
  readonly pnlCollateral: CollateralAmount
  readonly isInProfit: boolean
  readonly payoutCollateral: CollateralAmount
  /** Holding fees of the whole position, which any close of it realises. */
  readonly holding: HoldingFees
  /** The position that is left; `null` after a close in full. */
  readonly rest: RestQuote | null
  readonly reason: OrderReason | null
}

/** The terms that all legs of a close have in common. */
interface CloseTerms {
  readonly slippage: Slippage
  readonly oraclePrice: Price
  readonly context: TradingContext
}

/** Previews an order that closes positions, each after the other, as the oracle answers them. */
export function previewClosing(
  { request, closes = [], warnings }: OrderPlan,
  trader: Address,
  context: TradingContext,
): Omit<OrderPreview, AccountFields> {
  const market = marketOfPair(context.chain, request.pairIndex)
  const collateral = collateralAt(context.chain, request.collateralIndex)
  const { price: oraclePrice, atMs } = context.lastMarkOf(market)
  const terms = { slippage: Slippage.parse(request.slippage)!, oraclePrice, context }
  const first = marketOfTrade({ trader, market, collateralIndex: collateral.index }, context)
  const legs = refuseUnpriced(() => closeAll(closes, first, terms))
  const executed = legs.filter(({ reason }) => reason === null)
  // Where every leg is refused, the numbers say what the execution would have been.
  const told = executed.length === 0 ? legs : executed
  const text = (amount: bigint): string => CollateralAmount.format(CollateralAmount.of(amount), collateral.decimals)
  const sum = (amount: (leg: Leg) => bigint): string => text(told.reduce((total, leg) => total + amount(leg), 0n))
  const whole = sumFills(told.map((leg) => fillOf(leg, text)) as [Fill, ...Fill[]])
  const left = told.find(({ rest }) => rest !== null)
  const sizeUsd = told.reduce(
    (usd, { part }) => usd + usdOfCollateral(positionSizeCollateral(part), first.collateral),
    0n,
  )
  return {
    market: request.market,
    side: request.side,
    type: request.type,
    reduceOnly: true,
    size: executed.length === 0 ? '0' : whole.size,
    notionalUsd: Usd.format(Usd.of(sizeUsd)),
    leverage: request.leverage,
    collateral: whole.collateral,
    collateralSymbol: collateral.symbol,
    slippage: request.slippage,
    oraclePrice: Price.format(oraclePrice),
    price: whole.price,
    ...ratesOf(
      request.side === 'long',
      told.map(({ impact }) => impact),
    ),
    feeCollateral: whole.feeCollateral,
    feeRate: feeRateOf(
      told.map(({ part }) => part),
      first,
    ),
    deposit: '0',
    payout: sum(({ payoutCollateral }) => payoutCollateral),
    pnl: sum(({ pnlCollateral }) => pnlCollateral),
    fundingFee: sum(({ holding }) => holding.fundingFeeCollateral),
    borrowingFee: sum(({ holding }) => holding.borrowingFeeCollateral + holding.oldBorrowingFeeCollateral),
    ...leftOf(left, first, oraclePrice),
    legs: legs.map((leg) => legAnswer(leg, text)),
    reason: legs.find(({ reason }) => reason !== null)?.reason ?? null,
    warnings: [...warnings],
    priceAt: atMs,
    block: context.chain.moment.blockNumber,
  }
}

function legAnswer(leg: Leg, text: (amount: bigint) => string): PreviewLeg {
  const { size, price, feeCollateral } = fillOf(leg, text)
  return {
    positionId: leg.closed.position.record.id,
    size: leg.reason === null ? size : '0',
    price,
    feeCollateral,
    payout: text(leg.payoutCollateral),
    reason: leg.reason,
  }
}

/** Returns the close of a leg as its fill will tell it. */
function fillOf({ closed, impact, part, feeCollateral }: Leg, text: (amount: bigint) => string): Fill {
  const { record, state } = closed.position
  return {
    price: Price.format(impact.priceAfterImpact),
    size: sizeDecimal(part, state.info),
    collateral: text(part.collateralAmount),
    feeCollateral: text(feeCollateral),
    txHash: '0x',
    timestamp: 0,
    positionId: record.id,
  }
}

/** Returns the risk of the position of which a part is left; nulls when none is. */
function leftOf(
  leg: Leg | undefined,
  { listing, collateral }: Market,
  oraclePrice: Price,
): Pick<OrderPreview, 'effectiveLeverage' | 'liquidationPrice' | 'sl' | 'tp'> {
  if (leg === undefined || leg.rest === null)
    return { effectiveLeverage: null, liquidationPrice: null, sl: null, tp: null }
  const { trade, liquidationPrice: price, carriedCollateral } = leg.rest
  const effective = effectiveLeverage(trade, carriedCollateral, oraclePrice, collateral)
  const { liquidationParams } = leg.closed.position.state
  return {
    effectiveLeverage: effective === undefined ? null : Leverage.format(effective),
    liquidationPrice: Price.format(price),
    sl: triggerDecimal(clampStopLoss(trade, liquidationParams, listing)),
    tp: triggerDecimal(trade.tp),
  }
}

/** Quotes the closes one after the other: each changes the volume and the skew that the next one meets. */
function closeAll(closes: readonly ClosedPart[], first: Market, terms: CloseTerms): readonly Leg[] {
  const legs: Leg[] = []
  let market = first
  for (const closed of closes) {
    const leg = closeOne(closed, market, terms)
    legs.push(leg)
    if (leg.reason === null) market = afterClose(market, leg, terms.context)
  }
  return legs
}

function closeOne(closed: ClosedPart, market: Market, terms: CloseTerms): Leg {
  const { oraclePrice, context } = terms
  const position = valuedPosition(closed.position, context.chain, market, oraclePrice, context.moment)
  const holding = holdingFees(position, market.pair, market.collateral, oraclePrice, context.moment)
  return closed.part === null
    ? { ...closeWhole(closed, position, market, terms), holding }
    : { ...closePart(closed, closed.part, position, market, terms), holding }
}

function closeWhole(
  closed: ClosedPart,
  position: ValuedPosition,
  market: Market,
  { slippage, oraclePrice, context }: CloseTerms,
): Omit<Leg, 'holding'> {
  const { trade } = position
  const quote = quoteClose(position, oraclePrice, market, context.moment)
  const asked = { expected: closed.expectedPrice, slippage }
  const gross = grossValueCollateral(trade.collateralAmount, quote.profitP, market.collateral)
  return {
    closed,
    impact: quote.impact,
    part: { ...trade, positionSizeToken: tokensOfTrade(trade, market.collateral) },
    feeCollateral: quote.closingFeeCollateral,
    pnlCollateral: CollateralAmount.of(gross - trade.collateralAmount),
    isInProfit: quote.profitP > 0n,
    payoutCollateral: quote.payoutCollateral,
    rest: null,
    reason:
      pausedReason(context.chain, { isClose: true }) ?? closeRefusal(trade.long, quote.impact.priceAfterImpact, asked),
  }
}

function closePart(
  closed: ClosedPart,
  partCollateral: CollateralAmount,
  position: ValuedPosition,
  market: Market,
  { slippage, oraclePrice, context: { chain, moment } }: CloseTerms,
): Omit<Leg, 'holding'> {
  const { trade } = position
  const part = partByCollateral(trade, partCollateral)
  const quote = quotePartialClose(position, part, oraclePrice, market, moment)
  const rest = quoteRest(position, part, quote.impact, oraclePrice, market, moment)
  const payout = part.collateralAmount + quote.netPnlCollateral - quote.closingFeeCollateral
  const of = {
    liquidationPrices: [liquidationPrice(position, market, oraclePrice, moment), rest.liquidationPrice],
    oraclePrice,
    executionPrice: quote.impact.priceAfterImpact,
    payoutCollateral: payout,
  }
  return {
    closed,
    impact: quote.impact,
    part: { ...part, positionSizeToken: quote.impact.positionSizeToken },
    feeCollateral: quote.closingFeeCollateral,
    pnlCollateral: quote.rawPnlCollateral,
    isInProfit: quote.profitP > 0n,
    payoutCollateral: CollateralAmount.of(max(payout, 0n)),
    rest,
    reason:
      pausedReason(chain, { isClose: true }) ??
      partialCloseRefusal(trade, of, { expected: closed.expectedPrice, slippage }),
  }
}

/**
 * Returns the market after a close: the open interest without what closed, and its size as volume of the current
 * window. The formulas of `Exposure.move` and `PriceImpact.addVolume` in contracts/src/rules.
 */
function afterClose(market: Market, { part, isInProfit }: Leg, { chain, moment }: TradingContext): Market {
  const { pair, collateral, volume } = market
  const tokens = part.positionSizeToken
  const side = part.long ? 'oiLongToken' : 'oiShortToken'
  const sizeUsd = usdOfCollateral(positionSizeCollateral(part), collateral)
  const counted = isInProfit ? sizeUsd : (sizeUsd * BigInt(chain.negPnlCumulVolMultiplier)) / Ratio.one
  return {
    ...market,
    pair: { ...pair, [side]: TokenSize.of(max(pair[side] - tokens, 0n)) },
    volume: { ...volume, windows: withSold(volume, part.long, Usd.of(counted), moment) },
  }
}

/** Returns the windows with a close added to the current one: a long that closes sells. */
function withSold({ settings, windows }: Market['volume'], long: boolean, usd: Usd, { timestampS }: Moment) {
  if (settings.windowsDuration === 0) return windows
  const id = windowIdAt(settings, timestampS)
  const { oiLongUsd, oiShortUsd } = windows.get(id) ?? { oiLongUsd: Usd.zero, oiShortUsd: Usd.zero }
  const now: PairOi = long
    ? { oiLongUsd, oiShortUsd: Usd.of(oiShortUsd + usd) }
    : { oiLongUsd: Usd.of(oiLongUsd + usd), oiShortUsd }
  return new Map(windows).set(id, now)
}
