import { formatDecimal, scaleDecimal, type Hex } from '@bezel/protocol'
import type { LivePosition } from '../../positions/livePositions.ts'
import type { OrderRequest } from '../orders/orderModel.ts'
import type { Closing } from './closing.ts'
import { LEVERAGE_DECIMALS, SLIPPAGE_DECIMALS } from './decimals.ts'
import { encodeCall } from './encodeCall.ts'
import { collateralAt } from './listed.ts'
import { DEFAULT_SLIPPAGE } from './normalizeOrder.ts'
import type { OrderPlan, TradingContext } from './plan.ts'
import { MAX_CALLS, requireCallCount } from './wrapCalls.ts'

export interface ClosingOrder {
  /** Without what is the first position's: the leverage and collateral of a body have no effect on a close. */
  readonly request: Omit<OrderRequest, 'leverage' | 'collateral' | 'collateralIndex' | 'legs'>
  readonly first: LivePosition
  readonly closings: readonly Closing[]
  /** Whether the order's slippage is brought to the positions, where the chain keeps it. */
  readonly isSlippageSet: boolean
}

/** One order that closes one or more positions. It opens nothing, so it can neither raise leverage nor spend. */
export function closingOrder(
  { request, first, closings, isSlippageSet }: ClosingOrder,
  { chain }: TradingContext,
): OrderPlan {
  const { leverage, collateralIndex } = first.state.trade
  const calls = isSlippageSet ? withSlippage(request, closings) : closings.map(({ call }) => call)
  requireCallCount(calls.length)
  return {
    kind: 'open',
    calls,
    action: { market: request.market, leverage: null, spendUsd: 0n },
    validity: 'market',
    takes: null,
    request: {
      ...request,
      leverage: formatDecimal(BigInt(leverage), LEVERAGE_DECIMALS),
      collateral: collateralAt(chain, collateralIndex).symbol,
      collateralIndex,
      legs: closings.map(({ leg }) => leg),
    },
  }
}

/**
 * The chain keeps a closing slippage per position, which an earlier close may have left there, so each close sets its own first. Where that takes
 * more calls than a transaction holds, an order with the chain's own default does without.
 */
function withSlippage({ slippage }: Pick<OrderRequest, 'slippage'>, closings: readonly Closing[]): Hex[] {
  const isRoom = closings.length * 2 <= MAX_CALLS
  if (!isRoom && slippage === DEFAULT_SLIPPAGE) return closings.map(({ call }) => call)
  const slippageP = Number(scaleDecimal(slippage, SLIPPAGE_DECIMALS)!)
  return closings.flatMap(({ call, leg }) => [
    encodeCall('updateMaxClosingSlippageP', [leg.tradeIndex, slippageP]),
    call,
  ])
}
