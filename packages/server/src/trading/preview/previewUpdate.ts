import { CollateralAmount, Leverage, max, Price, type OrderReason, type PositionPreview } from '@bezel/protocol'
import { leverageDecimal, sizeDecimal } from '../market/amounts.ts'
import { collateralAt, marketOfPair } from '../plan/listed.ts'
import type { PositionPlan, TradingContext } from '../plan/plan.ts'
import { valuedPosition } from '../positions/positionAnswer.ts'
import type { LivePosition } from '../positions/positionModel.ts'
import type { Market, Moment, Trade, ValuedPosition } from '../valuation/chainState.ts'
import { tokensOfTrade } from '../valuation/collateralAmounts.ts'
import { carriedFeesCollateral } from '../valuation/holdingFees.ts'
import { clampStopLoss, liquidationPrice } from '../valuation/liquidation.ts'
import { quoteLeverage, type LeverageQuote } from '../valuation/quotes.ts'
import { leverageRefusal } from '../valuation/refusals.ts'
import { effectiveLeverage } from '../valuation/resizing.ts'
import { marketOfTrade, pausedReason, type AccountFields } from './previewed.ts'

/** Previews a change of a position: of its stops, which cost nothing, or of its leverage or collateral. */
export function previewUpdate(
  live: LivePosition,
  { changes, leverage, warnings }: PositionPlan,
  context: TradingContext,
): Omit<PositionPreview, AccountFields> {
  const { record, state } = live
  const { chain, moment } = context
  const market = marketOfPair(chain, state.trade.pairIndex)
  const token = collateralAt(chain, state.trade.collateralIndex)
  const valuation = marketOfTrade({ ...record, market, collateralIndex: token.index }, context)
  const { price: oraclePrice, atMs } = context.lastMarkOf(market)
  const position = valuedPosition(live, chain, valuation, oraclePrice, moment)
  const at = { oraclePrice, valuation, moment }
  const { trade, ...changed } =
    leverage === undefined
      ? withStops(position, changes, at)
      : withLeverage(position, leverage, { ...at, govFeeP: chain.govFeeP, maxLeverage: market.maxLeverage })
  const moved = trade.collateralAmount - state.trade.collateralAmount
  const text = (amount: bigint): string => CollateralAmount.format(CollateralAmount.of(amount), token.decimals)
  const { effectiveLeverage: effective } = changed
  return {
    positionId: record.id,
    market: market.symbol,
    side: trade.long ? 'long' : 'short',
    size: sizeDecimal({ positionSizeToken: tokensOfTrade(state.trade, valuation.collateral) }, state.info),
    leverage: leverageDecimal(trade),
    effectiveLeverage: effective === undefined ? null : Leverage.format(effective),
    collateral: text(trade.collateralAmount),
    collateralSymbol: token.symbol,
    oraclePrice: Price.format(oraclePrice),
    feeCollateral: text(changed.feeCollateral),
    deposit: text(max(moved, 0n)),
    payout: text(max(-moved, 0n)),
    liquidationPrice: Price.format(changed.liquidationPrice),
    sl: Price.format(trade.sl),
    tp: Price.format(trade.tp),
    reason: pausedReason(chain, { isClose: false }) ?? changed.reason,
    warnings: [...warnings],
    priceAt: atMs,
    block: chain.moment.blockNumber,
  }
}

/** A position after its change, with the reason for which the contracts would refuse it. */
interface Changed extends Omit<LeverageQuote, 'liquidationPriceBefore'> {
  readonly reason: OrderReason | null
}

interface ChangedAt {
  readonly oraclePrice: Price
  readonly valuation: Market
  readonly moment: Moment
}

/** Returns the position with the stops that the contracts keep. */
function withStops(
  position: ValuedPosition,
  stops: Partial<Pick<Trade, 'sl' | 'tp'>>,
  { oraclePrice, valuation, moment }: ChangedAt,
): Changed {
  const { trade } = position
  const { pair, collateral } = valuation
  const carried = carriedFeesCollateral(position, pair, collateral, oraclePrice, moment)
  return {
    trade: { ...trade, ...stops },
    feeCollateral: CollateralAmount.zero,
    liquidationPrice: liquidationPrice(position, valuation, oraclePrice, moment),
    effectiveLeverage: effectiveLeverage(trade, carried, oraclePrice, collateral),
    reason: null,
  }
}

/** Returns the position with another leverage. The contracts clamp its stop loss anew. */
function withLeverage(
  position: ValuedPosition,
  leverage: Leverage,
  of: ChangedAt & { readonly govFeeP: number; readonly maxLeverage: Leverage },
): Changed {
  const { oraclePrice, valuation, moment } = of
  const quote = quoteLeverage(position, leverage, of.govFeeP, oraclePrice, valuation, moment)
  const sl = clampStopLoss(quote.trade, position.liquidationParams, valuation.listing)
  const reason = leverageRefusal(position.trade, quote, oraclePrice, of.maxLeverage)
  return { ...quote, trade: { ...quote.trade, sl }, reason }
}
