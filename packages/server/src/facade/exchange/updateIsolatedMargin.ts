import { abs, CollateralAmount, CollateralPrice, MicroUsd, type Decimal } from '@bezel/protocol'
import { updatePosition } from '../../orders/updatePosition.ts'
import { collateralAt, type Collateral } from '../../trading/plan/listed.ts'
import type { LivePosition, PositionState, UpdateRefusal } from '../../trading/positions/positionModel.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { ERR, ExchangeErr, reasonText } from './errStrings.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { assetAt, booleanAt, integerAt } from './fields.ts'
import { marketView } from './marketView.ts'
import { relayed, settledPosition, unlessFailed } from './relayed.ts'

/**
 * Adds margin to the position in a coin, or removes some. Ignores the side, because clients see one position per coin.
 */
export function updateIsolatedMargin(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asset = assetAt(action.asset, 'action.asset')
  const usd = MicroUsd.of(integerAt(action.ntli, 'action.ntli'))
  booleanAt(action.isBuy, 'action.isBuy')
  return async (context) => {
    const { orders } = context.parts
    const { positions, trading, coin } = marketView(context, asset)
    const position = onlyOne(positions, coin.name)
    const { trade } = position.state
    const amount = amountOf(MicroUsd.of(abs(usd)), collateralAt(trading.chain, trade.collateralIndex))
    if (amount === '0') throw new ExchangeErr('ntli must be an amount other than zero.')
    const change = { collateral: { action: usd < 0n ? 'remove' : 'add', amount } } as const
    const { hash } = await relayed(context, (write) => updatePosition(orders, write, position.record.id, change))
    const settled = settledPosition(context, position.record.id, (now) => isAnswered(now, position.state))
    if ((await unlessFailed(context, hash, settled)) === 'failed') throw new ExchangeErr(ERR.failed)
    requireMoved(orders.positions.find(position.record.id)?.state, position.state, amount)
    return OK_DEFAULT
  }
}

/** True when the oracle has answered a change that was asked for after `before`, or has not done so in time. */
function isAnswered(now: PositionState, before: PositionState): boolean {
  const isNew = now.pendingUpdate?.pendingIndex !== before.pendingUpdate?.pendingIndex
  const isTimedOut = isNew && now.pendingUpdate?.status === 'timed_out'
  return isMoved(now, before) || newRefusal(now, before) !== undefined || isTimedOut
}

function isMoved(now: PositionState, before: PositionState): boolean {
  return now.trade.collateralAmount !== before.trade.collateralAmount
}

/** Returns the refusal of a change that was asked for after `before`; indices of requests only grow. */
function newRefusal({ updateRefusal }: PositionState, before: PositionState): UpdateRefusal | undefined {
  const last = before.updateRefusal?.pendingIndex ?? -1
  return updateRefusal !== null && updateRefusal.pendingIndex > last ? updateRefusal : undefined
}

/** Throws unless the margin has moved; the text says that nothing has, and what becomes of it. */
function requireMoved(now: PositionState | undefined, before: PositionState, amount: Decimal): void {
  if (now !== undefined && isMoved(now, before)) return
  const nothing = `0 of ${amount} margin moved`
  if (now === undefined) throw new ExchangeErr(`${nothing}: the position was closed.`)
  const refusal = newRefusal(now, before)
  if (refusal !== undefined) throw new ExchangeErr(`${nothing}: ${reasonText(refusal.reason)}`)
  throw new ExchangeErr(
    now.pendingUpdate === null
      ? `${nothing} so far: the transaction is not mined yet. Look at the position again.`
      : `${nothing} so far: the oracles have not answered. If they never do, the change is taken back by itself.`,
  )
}

/** Returns the only position. Throws for several, because the action does not say which one it means. */
function onlyOne(positions: readonly LivePosition[], coin: string): LivePosition {
  const [position, ...others] = positions
  if (position === undefined) throw new ExchangeErr(`There is no open position in ${coin}.`)
  if (others.length === 0) return position
  throw new ExchangeErr(
    `The position in ${coin} consists of ${positions.length} trades, each with margin of its own: change it through the native interface.`,
  )
}

/** Converts USD to an amount of a token, rounded down to its decimals. One USD counts as one USDC. */
function amountOf(usd: MicroUsd, { symbol, decimals, state }: Collateral): Decimal {
  const price = symbol === 'USDC' ? CollateralPrice.one : state.priceUsd
  const amount = (usd * state.precision * CollateralPrice.one) / (MicroUsd.one * price)
  return CollateralAmount.format(CollateralAmount.of(amount), decimals)
}
