import type { LivePosition } from '../positions/positionModel.ts'
import { CollateralAmount, Usd, Leverage, Price, max, type Hex, type UpdatePositionRequest } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import { readTerms, refuseIssues, requirePrecision, scaleTerm } from './bodyTerms.ts'
import { encodeCall } from './encodeCall.ts'
import { collateralAt, marketOfPair, requireOpen } from './listed.ts'
import type { Plan, TradingContext } from './plan.ts'
import { requireLeverage } from './planOpening.ts'

/** The lowest leverage of an open position, 0.1; it may be below the market's minimum for opening. */
const MIN_LEVERAGE = Leverage.of(100n)

type CollateralChange = NonNullable<UpdatePositionRequest['collateral']>

/** Plans the change of an open position: its triggers, its leverage, or its collateral, one kind at a time. */
export function planUpdatePosition(position: LivePosition, body: UpdatePositionRequest, context: TradingContext): Plan {
  requireOneKind(body)
  const market = marketOfPair(context.chain, position.state.trade.pairIndex)
  if (body.leverage !== undefined) return planLeverage(position, body.leverage, market, context)
  if (body.collateral !== undefined) return planCollateral(position, body.collateral, market, context)
  return planTriggers(position, body, market)
}

function requireOneKind({ sl, tp, leverage, collateral }: UpdatePositionRequest): void {
  const kinds = [sl !== undefined || tp !== undefined, leverage !== undefined, collateral !== undefined]
  const count = kinds.filter(Boolean).length
  if (count === 1) return
  const message = count === 0 ? 'names nothing to change' : 'changes more than one of sl and tp, leverage, collateral'
  refuseIssues([{ path: 'body', message }])
}

/**
 * Plans new triggers. They apply at once, without the oracle; `"0"` removes one. The chain checks that each is on the
 * right side of the price.
 */
function planTriggers(
  { state: { trade } }: LivePosition,
  { sl: slText, tp: tpText }: UpdatePositionRequest,
  market: ListedMarket,
): Plan {
  const { sl, tp } = readTerms({ sl: slText, tp: tpText })
  const calls: Hex[] = []
  if (sl !== undefined)
    calls.push(encodeCall('updateSl', [trade.index, scaleTerm('sl', sl, Price, market.pricePrecision)]))
  if (tp !== undefined)
    calls.push(encodeCall('updateTp', [trade.index, scaleTerm('tp', tp, Price, market.pricePrecision)]))
  const action = { market: market.symbol, leverage: null, spendUsd: Usd.zero }
  return { kind: 'update', calls, action, validity: 'resting', takes: null }
}

function planLeverage(position: LivePosition, text: string, market: ListedMarket, context: TradingContext): Plan {
  const { leverage: given } = readTerms({ leverage: text })
  const leverage = scaleTerm('leverage', given!, Leverage, Leverage.decimals)
  if (leverage === BigInt(position.state.trade.leverage)) {
    refuseIssues([{ path: 'body.leverage', message: 'is what the position has already' }])
  }
  return planNewLeverage({ position, leverage, scopedLeverage: leverage }, market, context)
}

/**
 * Plans a change of collateral as the change of leverage that keeps the size: L' = C x L / C', rounded down to the
 * chain's 0.001. So a position ends with at least the requested collateral: slightly more is added, slightly less
 * removed.
 */
function planCollateral(
  position: LivePosition,
  { action, amount: text }: CollateralChange,
  market: ListedMarket,
  context: TradingContext,
): Plan {
  const { amount: given } = readTerms({ amount: text }, [], 'body.collateral')
  const { trade } = position.state
  const { decimals } = collateralAt(context.chain, trade.collateralIndex)
  requirePrecision('collateral.amount', given!, decimals)
  const amount = CollateralAmount.parseTruncated(given!, decimals)
  const isAdded = action === 'add'
  const collateral = isAdded ? trade.collateralAmount + amount : trade.collateralAmount - amount
  if (collateral <= 0n) {
    const held = CollateralAmount.format(trade.collateralAmount, decimals)
    refuseIssues([{ path: 'body.collateral.amount', message: `must be below the position's collateral, ${held}` }])
  }
  const leverage = Leverage.of((trade.collateralAmount * BigInt(trade.leverage)) / collateral)
  if (leverage === BigInt(trade.leverage)) {
    refuseIssues([{ path: 'body.collateral.amount', message: 'is too little to move the leverage by 0.001' }])
  }
  // More collateral only lowers the leverage, which no scope forbids.
  return planNewLeverage({ position, leverage, scopedLeverage: isAdded ? null : leverage }, market, context)
}

interface NewLeverage {
  readonly position: LivePosition
  readonly leverage: Leverage
  /** Leverage to check against the agent's scope; `null` when the change can't raise it. */
  readonly scopedLeverage: Leverage | null
}

function planNewLeverage(
  { position, leverage, scopedLeverage }: NewLeverage,
  market: ListedMarket,
  context: TradingContext,
): Plan {
  const { trade } = position.state
  requireReachableLeverage(leverage, Leverage.of(trade.leverage), market)
  requireOpen(context, market)
  // Computed like in the Diamond, which takes the difference.
  const collateral = (trade.collateralAmount * BigInt(trade.leverage)) / leverage
  const added = collateral - trade.collateralAmount
  return {
    kind: 'update',
    calls: [encodeCall('updateLeverage', [trade.index, Number(leverage)])],
    action: { market: market.symbol, leverage: scopedLeverage, spendUsd: Usd.zero },
    validity: 'resting',
    takes: added > 0n ? { collateralIndex: trade.collateralIndex, amount: CollateralAmount.of(added) } : null,
  }
}

/**
 * Throws `LEVERAGE_OUT_OF_RANGE`. The market's maximum applies to a rise only: a position above it, whose market was
 * tightened, may still be lowered in steps.
 */
function requireReachableLeverage(leverage: Leverage, current: Leverage, { maxLeverage }: ListedMarket): void {
  requireLeverage(leverage, MIN_LEVERAGE, leverage > current ? maxLeverage : max(maxLeverage, current))
}
