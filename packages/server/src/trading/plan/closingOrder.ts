import type { LivePosition } from '../positions/livePosition.ts'
import { formatDecimal, scaleDecimal, type Decimal, type Hex } from '@bezel/protocol'
import type { OrderRequest } from '../orders/orderModel.ts'
import type { Closing } from './closing.ts'
import { LEVERAGE_DECIMALS, SLIPPAGE_DECIMALS } from './decimals.ts'
import { encodeCall } from './encodeCall.ts'
import { collateralAt } from './listed.ts'
import { DEFAULT_SLIPPAGE } from './normalizeOrder.ts'
import type { OrderPlan, TradingContext } from './plan.ts'
import { requireCallCount } from './wrapCalls.ts'

export interface ClosingOrder {
  /** Without what is the first position's. */
  readonly request: Omit<OrderRequest, 'leverage' | 'collateral' | 'collateralIndex' | 'legs'>
  readonly first: LivePosition
  readonly closings: readonly Closing[]
}

/** One order that closes one or more positions. It opens nothing, so it can neither raise leverage nor spend. */
export function closingOrder({ request, first, closings }: ClosingOrder, { chain }: TradingContext): OrderPlan {
  const { leverage, collateralIndex } = first.state.trade
  const calls = withSlippage(request, closings)
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
 * The chain keeps a closing slippage per position, where an earlier close may have left another one: what the order says is set before each close,
 * except where it holds already.
 */
function withSlippage({ slippage }: Pick<OrderRequest, 'slippage'>, closings: readonly Closing[]): Hex[] {
  const asked = slippagePOf(slippage)
  return closings.flatMap(({ position, call }) => {
    const { trade, maxClosingSlippageP } = position.state
    const isInForce = asked === (maxClosingSlippageP || slippagePOf(DEFAULT_SLIPPAGE))
    return isInForce ? [call] : [encodeCall('updateMaxClosingSlippageP', [trade.index, asked]), call]
  })
}

/** 1e3 per percent. */
function slippagePOf(slippage: Decimal): number {
  return Number(scaleDecimal(slippage, SLIPPAGE_DECIMALS)!)
}
