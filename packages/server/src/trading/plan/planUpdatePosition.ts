import type { LivePosition } from '../positions/livePosition.ts'
import { formatDecimal, type Hex, type UpdatePositionRequest } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import { larger } from '../valuation/scales.ts'
import { readTerms, refuseIssues, scaleTerm } from './bodyTerms.ts'
import { LEVERAGE_DECIMALS, PRICE_DECIMALS } from './decimals.ts'
import { encodeCall } from './encodeCall.ts'
import { collateralAt, marketOfPair, requireOpen } from './listed.ts'
import type { Plan, TradingContext } from './plan.ts'
import { requireLeverage } from './planOpening.ts'

/** 1e3. A position may go below what its market opens with, down to this. */
const MIN_LEVERAGE = 100n

type CollateralChange = NonNullable<UpdatePositionRequest['collateral']>

/** A change of an open position: its triggers, its leverage, or its collateral, one kind at a time. */
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

/** At once on the chain, without the oracle; `"0"` removes. Which side of the price they are on is the chain's to judge. */
function planTriggers(
  { state: { trade } }: LivePosition,
  { sl: slText, tp: tpText }: UpdatePositionRequest,
  market: ListedMarket,
): Plan {
  const { sl, tp } = readTerms({ sl: slText, tp: tpText })
  const scale = { maxDecimals: market.pricePrecision, decimals: PRICE_DECIMALS }
  const calls: Hex[] = []
  if (sl !== undefined) calls.push(encodeCall('updateSl', [trade.index, scaleTerm('sl', sl, scale)]))
  if (tp !== undefined) calls.push(encodeCall('updateTp', [trade.index, scaleTerm('tp', tp, scale)]))
  const action = { market: market.symbol, leverage: null, spendUsd: 0n }
  return { kind: 'update', calls, action, validity: 'resting', takes: null }
}

function planLeverage(position: LivePosition, text: string, market: ListedMarket, context: TradingContext): Plan {
  const { leverage: given } = readTerms({ leverage: text })
  const leverage = scaleTerm('leverage', given!, { maxDecimals: LEVERAGE_DECIMALS, decimals: LEVERAGE_DECIMALS })
  if (leverage === BigInt(position.state.trade.leverage)) {
    refuseIssues([{ path: 'body.leverage', message: 'is what the position has already' }])
  }
  return planNewLeverage({ position, leverage, scopedLeverage: leverage }, market, context)
}

/**
 * Collateral moves by the leverage that keeps the size: L' = C x L / C', rounded down to the chain's 0.001. So a position ends with at least the
 * collateral that was asked for: a little more is added, a little less removed.
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
  const amount = scaleTerm('collateral.amount', given!, { maxDecimals: decimals, decimals })
  const isAdded = action === 'add'
  const collateral = isAdded ? trade.collateralAmount + amount : trade.collateralAmount - amount
  if (collateral <= 0n) {
    const held = formatDecimal(trade.collateralAmount, decimals)
    refuseIssues([{ path: 'body.collateral.amount', message: `must be below the position's collateral, ${held}` }])
  }
  const leverage = (trade.collateralAmount * BigInt(trade.leverage)) / collateral
  if (leverage === BigInt(trade.leverage)) {
    refuseIssues([{ path: 'body.collateral.amount', message: 'is too little to move the leverage by 0.001' }])
  }
  // More collateral can only lower the leverage, which no scope forbids.
  return planNewLeverage({ position, leverage, scopedLeverage: isAdded ? null : leverage }, market, context)
}

interface NewLeverage {
  readonly position: LivePosition
  /** 1e3. */
  readonly leverage: bigint
  /** As the agent's scope is asked about it. */
  readonly scopedLeverage: bigint | null
}

function planNewLeverage(
  { position, leverage, scopedLeverage }: NewLeverage,
  market: ListedMarket,
  context: TradingContext,
): Plan {
  const { trade } = position.state
  requireReachableLeverage(leverage, BigInt(trade.leverage), market)
  requireOpen(context, market)
  // As the Diamond computes it when it takes the difference.
  const collateral = (trade.collateralAmount * BigInt(trade.leverage)) / leverage
  const added = collateral - trade.collateralAmount
  return {
    kind: 'update',
    calls: [encodeCall('updateLeverage', [trade.index, Number(leverage)])],
    action: { market: market.symbol, leverage: scopedLeverage, spendUsd: 0n },
    validity: 'resting',
    takes: added > 0n ? { collateralIndex: trade.collateralIndex, amount: added } : null,
  }
}

/** The market's maximum binds what rises: a position above it, whose market got stricter, may still come down. */
function requireReachableLeverage(leverage: bigint, current: bigint, { maxLeverage }: ListedMarket): void {
  requireLeverage(leverage, MIN_LEVERAGE, leverage > current ? maxLeverage : larger(maxLeverage, current))
}
