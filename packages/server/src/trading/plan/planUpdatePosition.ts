import type { LivePosition } from '../positions/positionModel.ts'
import {
  abs,
  ApiError,
  CollateralAmount,
  Usd,
  Leverage,
  max,
  type Hex,
  type UpdatePositionRequest,
  type Warning,
} from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { Trade } from '../valuation/chainState.ts'
import { collateralAtLeverage } from '../valuation/resizing.ts'
import { readTerms, refuseIssues, requirePrecision, scalePrice, scaleTerm } from './bodyTerms.ts'
import { encodeCall } from './encodeCall.ts'
import { collateralAt, marketOfPair, requireOpen, type Collateral } from './listed.ts'
import { oldPriceWarnings } from './oldPrice.ts'
import type { Plan, PositionPlan, TradingContext } from './plan.ts'
import { requireLeverage } from './planOpening.ts'
import { keptStopLoss, requireTakeProfit, warnOfLeverage } from './stops.ts'

/** The lowest leverage of an open position, 0.1; it may be below the market's minimum for opening. */
const MIN_LEVERAGE = Leverage.of(100n)

/** The difference between an amount and the step taken for it from which on the answer has a warning: 1 %. */
const WARNED_SHARE = 100n

type CollateralChange = NonNullable<UpdatePositionRequest['collateral']>

/** Plans the change of an open position: its triggers, its leverage, or its collateral, one kind at a time. */
export function planUpdatePosition(
  position: LivePosition,
  body: UpdatePositionRequest,
  context: TradingContext,
): PositionPlan {
  requireOneKind(body)
  const market = marketOfPair(context.chain, position.state.trade.pairIndex)
  if (body.leverage !== undefined) return planLeverage(position, body.leverage, market, context)
  if (body.collateral !== undefined) return planCollateral(position, body.collateral, market, context)
  return planTriggers(position, body, market, context)
}

/** Joins the plans of several positions of one market and collateral into one transaction. */
export function joinPlans(plans: readonly PositionPlan[]): Plan {
  const [first] = plans as readonly [PositionPlan]
  if (plans.length === 1) return first
  const taken = plans.map(({ takes }) => takes).filter((takes) => takes !== null)
  const sum = (amounts: readonly bigint[]): CollateralAmount =>
    CollateralAmount.of(amounts.reduce((total, amount) => total + amount, 0n))
  const leverages = plans.map(({ action }) => action.leverage).filter((leverage) => leverage !== null)
  return {
    ...first,
    calls: plans.flatMap(({ calls }) => calls),
    action: { ...first.action, leverage: leverages.length === 0 ? null : leverages.reduce(max<Leverage>) },
    takes:
      taken[0] === undefined
        ? null
        : {
            collateralIndex: taken[0].collateralIndex,
            amount: sum(taken.map(({ amount }) => amount)),
            returned: sum(taken.map(({ returned }) => returned ?? 0n)),
          },
    warnings: plans.flatMap(({ warnings }) => warnings),
    touches: plans.flatMap(({ touches }) => touches ?? []),
  }
}

function requireOneKind({ sl, tp, leverage, collateral }: UpdatePositionRequest): void {
  const kinds = [sl !== undefined || tp !== undefined, leverage !== undefined, collateral !== undefined]
  const count = kinds.filter(Boolean).length
  if (count === 1) return
  const message = count === 0 ? 'names nothing to change' : 'changes more than one of sl and tp, leverage, collateral'
  refuseIssues([{ path: 'body', message }])
}

/**
 * Plans new triggers. They apply at once, without the oracle; `"0"` removes one. The chain is asked for what was asked
 * here, and the plan says what it will keep.
 */
function planTriggers(
  { state }: LivePosition,
  { sl: slText, tp: tpText }: UpdatePositionRequest,
  market: ListedMarket,
  context: TradingContext,
): PositionPlan {
  const { trade } = state
  const { pricePrecision } = market
  const given = readTerms({ sl: slText, tp: tpText })
  const sl = given.sl && scalePrice('sl', given.sl, trade.sl, pricePrecision)
  const tp = given.tp && scalePrice('tp', given.tp, trade.tp, pricePrecision)
  const kept = sl === undefined ? undefined : keptStopLoss({ ...state, trade: { ...trade, sl } }, market, context)
  if (tp !== undefined) requireTakeProfit({ ...state, trade: { ...trade, tp } }, market, context)
  const calls: Hex[] = []
  if (sl !== undefined) calls.push(encodeCall('updateSl', [trade.index, sl]))
  if (tp !== undefined) calls.push(encodeCall('updateTp', [trade.index, tp]))
  return {
    kind: 'update',
    calls,
    action: { market: market.symbol, leverage: null, spendUsd: Usd.zero },
    validity: 'resting',
    takes: null,
    warnings: [...(kept?.warnings ?? []), ...(sl || tp ? oldPriceWarnings(market, context) : [])],
    changes: { ...(kept && { sl: kept.sl }), ...(tp !== undefined && { tp }) },
  }
}

function planLeverage(
  position: LivePosition,
  text: string,
  market: ListedMarket,
  context: TradingContext,
): PositionPlan {
  const { leverage: given } = readTerms({ leverage: text })
  const leverage = scaleTerm('leverage', given!, Leverage, Leverage.decimals)
  if (leverage === BigInt(position.state.trade.leverage)) {
    refuseIssues([{ path: 'body.leverage', message: 'is what the position has already' }])
  }
  return planNewLeverage({ position, leverage, scopedLeverage: leverage }, market, context)
}

/**
 * Plans a change of collateral as the change of leverage that keeps the size: L' = C x L / C', in the chain's steps of
 * 0.001. The step nearest below the amount is taken, so that never more leaves the wallet or the position than was
 * said.
 */
function planCollateral(
  position: LivePosition,
  { action, amount: text }: CollateralChange,
  market: ListedMarket,
  context: TradingContext,
): PositionPlan {
  const { amount: given } = readTerms({ amount: text }, [], 'body.collateral')
  const { trade } = position.state
  const token = collateralAt(context.chain, trade.collateralIndex)
  requirePrecision('collateral.amount', given!, token.decimals)
  const amount = CollateralAmount.parseTruncated(given!, token.decimals)
  const isAdded = action === 'add'
  if (!isAdded && amount >= trade.collateralAmount) {
    const held = CollateralAmount.format(trade.collateralAmount, token.decimals)
    refuseIssues([{ path: 'body.collateral.amount', message: `must be below the position's collateral, ${held}` }])
  }
  const leverage = isAdded ? leverageAfterAdding(trade, amount) : leverageAfterRemoving(trade, amount)
  if (!movesCollateral(trade, { action, amount })) throw belowOneStep(trade, action, amount, token)
  // More collateral only lowers the leverage, which no scope forbids.
  const plan = planNewLeverage({ position, leverage, scopedLeverage: isAdded ? null : leverage }, market, context)
  return { ...plan, warnings: [...plan.warnings, ...roundingWarnings(amount, movedAt(trade, leverage), token)] }
}

/** True when an amount of collateral is at least one step of leverage, so that some of it moves. */
export function movesCollateral(
  trade: Trade,
  { action, amount }: { readonly action: CollateralChange['action']; readonly amount: CollateralAmount },
): boolean {
  if (action === 'add') return leverageAfterAdding(trade, amount) < trade.leverage
  return amount < trade.collateralAmount && leverageAfterRemoving(trade, amount) > trade.leverage
}

/** Returns the lowest leverage at which the Diamond takes at most the amount: C x L / L', truncated, <= C + amount. */
function leverageAfterAdding(trade: Trade, amount: CollateralAmount): Leverage {
  return Leverage.of(sizeOf(trade) / (trade.collateralAmount + amount + 1n) + 1n)
}

/** Returns the highest leverage at which the Diamond gives at most the amount: C x L / L', truncated, >= C - amount. */
function leverageAfterRemoving(trade: Trade, amount: CollateralAmount): Leverage {
  return Leverage.of(sizeOf(trade) / (trade.collateralAmount - amount))
}

function sizeOf({ collateralAmount, leverage }: Trade): bigint {
  return collateralAmount * BigInt(leverage)
}

/** Returns the collateral that a new leverage moves, truncated where the Diamond truncates. */
function movedAt(trade: Trade, leverage: Leverage): CollateralAmount {
  return CollateralAmount.of(abs(addedAt(trade, leverage)))
}

function addedAt(trade: Trade, leverage: Leverage): CollateralAmount {
  return CollateralAmount.of(collateralAtLeverage(trade, leverage) - trade.collateralAmount)
}

function roundingWarnings(amount: CollateralAmount, moved: CollateralAmount, token: Collateral): readonly Warning[] {
  if ((amount - moved) * WARNED_SHARE <= amount) return []
  const [asked, value] = [amount, moved].map((units) => CollateralAmount.format(units, token.decimals))
  const message = `Collateral moves in steps of 0.001 of leverage: ${value} ${token.symbol} is the nearest below ${asked}.`
  return [{ code: 'collateral_rounded', field: 'collateral.amount', asked: asked!, value: value!, message }]
}

/** Returns the refusal of an amount that is less than one step of leverage, with the amounts around it. */
function belowOneStep(
  trade: Trade,
  action: CollateralChange['action'],
  amount: CollateralAmount,
  { symbol, decimals }: Collateral,
): ApiError {
  const step = Leverage.of(BigInt(trade.leverage) + (action === 'add' ? -1n : 1n))
  const value = CollateralAmount.format(amount, decimals)
  const above = CollateralAmount.format(movedAt(trade, step), decimals)
  const message = `Collateral moves in steps of 0.001 of leverage: ${value} ${symbol} is less than one, ${above}.`
  const details = { field: 'collateral.amount', action, value, nearest: { below: '0', above } }
  return new ApiError('UNSUPPORTED', message, details)
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
): PositionPlan {
  const { trade } = position.state
  requireReachableLeverage(leverage, Leverage.of(trade.leverage), market)
  requireOpen(context, market)
  const added = addedAt(trade, leverage)
  return {
    kind: 'update',
    calls: [encodeCall('updateLeverage', [trade.index, Number(leverage)])],
    action: { market: market.symbol, leverage: scopedLeverage, spendUsd: Usd.zero },
    validity: 'resting',
    takes: added > 0n ? { collateralIndex: trade.collateralIndex, amount: added } : null,
    warnings: warnOfLeverage(position.state, leverage, market, context),
    changes: {},
    leverage,
  }
}

/**
 * Throws `LEVERAGE_OUT_OF_RANGE`. The market's maximum applies to a rise only: a position above it, whose market was
 * tightened, may still be lowered in steps.
 */
function requireReachableLeverage(leverage: Leverage, current: Leverage, { maxLeverage }: ListedMarket): void {
  requireLeverage(leverage, MIN_LEVERAGE, leverage > current ? maxLeverage : max(maxLeverage, current))
}
