import { abs, CollateralAmount, CollateralPrice, MicroUsd, Leverage, Usd } from '@bezel/protocol'
import { requireActing } from '../../orders/signedWrite.ts'
import { updatePositions } from '../../orders/updatePosition.ts'
import { MAX_CALLS } from '../../trading/plan/encodeCall.ts'
import { collateralAt, type Collateral } from '../../trading/plan/listed.ts'
import { movesCollateral } from '../../trading/plan/planUpdatePosition.ts'
import type { LivePosition, PositionState, UpdateRefusal } from '../../trading/positions/positionModel.ts'
import { saveLeverage } from '../../store/facadeLeverageStore.ts'
import { requireLeverage } from '../../trading/plan/planOpening.ts'
import { requireScope } from '../../trading/scope.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { ERR, ExchangeErr, reasonText } from './errStrings.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { ActionContext, RunAction } from './exchangeParts.ts'
import { assetAt, booleanAt, integerAt } from './fields.ts'
import { heldSize, marketView, type MarketView, tradedCoin } from './marketView.ts'
import { relayed, settledPosition, unlessFailed } from './relayed.ts'

/**
 * Chooses the leverage of the trader's next orders in a coin; open positions keep theirs. Positions are isolated even
 * when cross margin is asked for, because most clients ask for it by default.
 */
export function updateLeverage(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asset = assetAt(action.asset, 'action.asset')
  const leverage = integerAt(action.leverage, 'action.leverage')
  booleanAt(action.isCross, 'action.isCross')
  return async ({ parts, agent }) => {
    const { market } = tradedCoin(parts.orders.trading(), asset)
    const units = Leverage.of(BigInt(leverage) * Leverage.one)
    const chosen = { market: market.symbol, leverage: units, spendUsd: Usd.zero }
    requireScope(agent.scope, chosen)
    requireLeverage(units, market.minLeverage, market.maxLeverage)
    const { chain, trader } = agent
    const key = { chain, trader, pairIndex: market.pairIndex }
    await parts.store.transaction({ chain, trader }, async (sql) => {
      const { scope } = await requireActing(sql, agent, { nowMs: parts.now() })
      requireScope(scope, chosen)
      await saveLeverage(sql, key, leverage)
    })
    return OK_DEFAULT
  }
}

/**
 * Adds margin to the position in a coin, or removes some: to each of its trades in one collateral its share, all in one
 * transaction. Ignores the side, because clients see one position per coin.
 */
export function updateIsolatedMargin(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asset = assetAt(action.asset, 'action.asset')
  const usd = MicroUsd.of(integerAt(action.ntli, 'action.ntli'))
  booleanAt(action.isBuy, 'action.isBuy')
  return async (context) => {
    const { orders } = context.parts
    const view = marketView(context, asset)
    const trades = tradesOf(view)
    const token = collateralAt(view.trading.chain, trades[0]!.state.trade.collateralIndex)
    const change = { action: usd < 0n ? 'remove' : 'add', amount: amountOf(MicroUsd.of(abs(usd)), token) } as const
    if (change.amount === 0n) throw new ExchangeErr('ntli must be an amount other than zero.')
    const legs = spread(trades, change)
    const changes = legs.map(({ position, amount }) => {
      const collateral = { action: change.action, amount: CollateralAmount.format(amount, token.decimals) }
      return { id: position.record.id, body: { collateral } }
    })
    const { hash } = await relayed(context, (write) => updatePositions(orders, write, changes))
    const settled = legs.map(({ position: { record, state } }) =>
      settledPosition(context, record.id, (now) => isAnswered(now, state)),
    )
    if ((await unlessFailed(context, hash, Promise.all(settled))) === 'failed') throw new ExchangeErr(ERR.failed)
    requireMoved(context, legs, change.amount, token)
    return OK_DEFAULT
  }
}

/**
 * Returns the trades that share a change of margin: those of the larger side, in the collateral of the oldest, because
 * an amount is of one token.
 */
function tradesOf(view: MarketView): readonly LivePosition[] {
  const side = (long: boolean): LivePosition[] => view.positions.filter(({ state }) => state.trade.long === long)
  const [longs, shorts] = [side(true), side(false)]
  const trades = heldSize(view, longs) >= heldSize(view, shorts) ? longs : shorts
  const first = trades[0]?.state.trade
  if (first === undefined) throw new ExchangeErr(`There is no open position in ${view.coin.name}.`)
  return trades.filter(({ state }) => state.trade.collateralIndex === first.collateralIndex)
}

/** The share of one trade in a change of margin. */
interface Leg {
  readonly position: LivePosition
  readonly amount: CollateralAmount
}

/**
 * Spreads an amount over trades by their notional value, rounded down, with the rest for the largest. A trade whose
 * share would move nothing on the chain is left out, the smallest first, and so are those that one transaction does not
 * hold.
 */
export function spread(
  trades: readonly LivePosition[],
  { action, amount }: { readonly action: 'add' | 'remove'; readonly amount: CollateralAmount },
): readonly Leg[] {
  const notional = ({ state: { trade } }: LivePosition): bigint => trade.collateralAmount * BigInt(trade.leverage)
  const bySize = trades.toSorted((a, b) => Number(notional(b) - notional(a)))
  // Each trade may need a call that reclaims an earlier change first.
  const isReclaimed = trades.some(({ state }) => state.pendingUpdate !== null)
  let sharing = bySize.slice(0, isReclaimed ? MAX_CALLS / 2 : MAX_CALLS)
  for (;;) {
    const total = sharing.reduce((sum, position) => sum + notional(position), 0n)
    const shares = sharing.map((position) => (amount * notional(position)) / total)
    const rest = amount - shares.reduce((sum, share) => sum + share, 0n)
    const legs = sharing.map((position, at) => ({
      position,
      amount: CollateralAmount.of(shares[at]! + (at === 0 ? rest : 0n)),
    }))
    const left = legs.findLast((leg) => !movesCollateral(leg.position.state.trade, { action, amount: leg.amount }))
    if (left === undefined || legs.length === 1) return legs
    sharing = sharing.filter((position) => position !== left.position)
  }
}

/** True when the oracle has answered a change that was asked for after `before`, or has not done so in time. */
function isAnswered(now: PositionState, before: PositionState): boolean {
  const isNew = now.pendingUpdate?.pendingIndex !== before.pendingUpdate?.pendingIndex
  const isTimedOut = isNew && now.pendingUpdate?.status === 'timed_out'
  return isMoved(now, before) || newRefusal(now, before) !== undefined || isTimedOut
}

function isMoved(now: PositionState, before: PositionState): boolean {
  return movedOf(now, before) !== 0n
}

function movedOf(now: PositionState, before: PositionState): bigint {
  return now.trade.collateralAmount - before.trade.collateralAmount
}

/** Returns the refusal of a change that was asked for after `before`; indices of requests only grow. */
function newRefusal({ updateRefusal }: PositionState, before: PositionState): UpdateRefusal | undefined {
  const last = before.updateRefusal?.pendingIndex ?? -1
  return updateRefusal !== null && updateRefusal.pendingIndex > last ? updateRefusal : undefined
}

/** Throws unless the margin of every trade has moved; the text says how much has, and what becomes of the rest. */
function requireMoved(
  { parts }: ActionContext,
  legs: readonly Leg[],
  asked: CollateralAmount,
  { decimals }: Collateral,
): void {
  const ends = legs.map(({ position: { record, state: before } }) => ({
    before,
    now: parts.orders.positions.find(record.id)?.state,
  }))
  const rest = ends.find(({ before, now }) => now === undefined || !isMoved(now, before))
  if (rest === undefined) return
  const moved = ends.reduce((sum, { before, now }) => sum + (now === undefined ? 0n : abs(movedOf(now, before))), 0n)
  const [done, all] = [CollateralAmount.of(moved), asked].map((units) => CollateralAmount.format(units, decimals))
  throw new ExchangeErr(`${done} of ${all} margin moved${fateOf(rest.now, rest.before)}`)
}

/** Returns what became of a change that has not moved the margin of a trade. */
function fateOf(now: PositionState | undefined, before: PositionState): string {
  if (now === undefined) return ': the position was closed.'
  const refusal = newRefusal(now, before)
  if (refusal !== undefined) return `: ${reasonText(refusal.reason)}`
  return now.pendingUpdate === null
    ? ' so far: the transaction is not mined yet. Look at the position again.'
    : ' so far: the oracles have not answered. If they never do, the change is taken back by itself.'
}

/** Converts USD to an amount of a token, rounded down to its decimals. One USD counts as one USDC. */
function amountOf(usd: MicroUsd, { symbol, state }: Collateral): CollateralAmount {
  const price = symbol === 'USDC' ? CollateralPrice.one : state.priceUsd
  return CollateralAmount.of((usd * state.precision * CollateralPrice.one) / (MicroUsd.one * price))
}
