import { Slippage, Usd, type Hex, type Warning } from '@bezel/protocol'
import type { LivePosition } from '../positions/positionModel.ts'
import { encodeCall } from './encodeCall.ts'
import { marketOfPair } from './listed.ts'
import type { PositionPlan, TradingContext } from './plan.ts'

// The closing slippage of positions. The Diamond keeps one per position, and applies it when the oracle answers: to
// closes from their expected price, and to the stop loss and take profit from their own. A stop that would execute
// further away is refused, so below the spread of its market it never executes.

/** The closing slippage of a position for which none was set: 1 percent. */
export const DEFAULT_CLOSING_SLIPPAGE = Slippage.one

/** Returns the closing slippage that a position has. */
export function closingSlippageOf({ state }: Pick<LivePosition, 'state'>): Slippage {
  return state.maxClosingSlippageP === 0 ? DEFAULT_CLOSING_SLIPPAGE : Slippage.of(state.maxClosingSlippageP)
}

/** True when the stops of a position execute only nearer to their prices than by default. A wider slippage stays. */
export function isTight(position: Pick<LivePosition, 'state'>): boolean {
  return closingSlippageOf(position) < DEFAULT_CLOSING_SLIPPAGE
}

/**
 * Returns the call that gives a position this closing slippage, as a list that is empty when it has it already. A tight
 * one is always set, because stops that are set until the transaction is mined put it back.
 */
export function slippageCalls(position: LivePosition, slippage: Slippage): readonly Hex[] {
  if (closingSlippageOf(position) === slippage && !isTight(position)) return []
  return [slippageCall(position, slippage)]
}

function slippageCall({ state }: LivePosition, slippage: Slippage): Hex {
  return encodeCall('updateMaxClosingSlippageP', [state.trade.index, Number(slippage)])
}

/** Plans to put the closing slippage of a position back to the default, and to leave its stops as they are. */
export function planDefaultSlippage(position: LivePosition, { chain }: TradingContext): PositionPlan {
  const { symbol: market } = marketOfPair(chain, position.state.trade.pairIndex)
  return {
    kind: 'update',
    calls: [slippageCall(position, DEFAULT_CLOSING_SLIPPAGE)],
    action: { market, leverage: null, spendUsd: Usd.zero },
    validity: 'resting',
    takes: null,
    warnings: [],
    changes: {},
  }
}

/** Returns the warning of closes that leave a tight slippage with positions that have stops. */
export function tightCloseWarnings(slippage: Slippage, positions: readonly LivePosition[]): readonly Warning[] {
  const isStopped = positions.some(({ state: { trade } }) => trade.sl !== 0n || trade.tp !== 0n)
  if (!isStopped || slippage >= DEFAULT_CLOSING_SLIPPAGE) return []
  const value = Slippage.format(slippage)
  const message = `The contracts keep a slippage of ${value} % with the position: where this close is refused or leaves a part, the stop loss and take profit execute only within ${value} % of their prices. Setting one of them again puts the default back.`
  return [{ code: 'closing_slippage_kept', field: 'slippage', value, message }]
}

/**
 * Returns a plan that sets stops, with a call that puts a tight slippage back to the default, so that they execute. A
 * close that waits for the oracle would lose its own bound by that, so while one does (`isClosing`) the slippage stays.
 */
export function restoreSlippage(position: LivePosition, plan: PositionPlan, isClosing: boolean): PositionPlan {
  const { sl, tp } = plan.changes
  if (!isTight(position) || (!sl && !tp)) return plan
  const tight = Slippage.format(closingSlippageOf(position))
  if (isClosing) {
    const message = `A close of this position waits with a slippage of ${tight} %, which stays with it: until a stop is set after the end of that close, the stop loss and take profit execute only within ${tight} % of their prices.`
    return { ...plan, warnings: [...plan.warnings, { code: 'closing_slippage_kept', value: tight, message }] }
  }
  const value = Slippage.format(DEFAULT_CLOSING_SLIPPAGE)
  const message = `The closing slippage of the position becomes ${value} %: with the ${tight} % that an earlier close left, the stop loss and take profit execute only within that of their prices.`
  return {
    ...plan,
    calls: [...slippageCalls(position, DEFAULT_CLOSING_SLIPPAGE), ...plan.calls],
    warnings: [...plan.warnings, { code: 'closing_slippage_reset', value, message }],
  }
}
