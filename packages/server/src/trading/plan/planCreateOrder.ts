import { ApiError, scaleDecimal, type Address } from '@bezel/protocol'
import type { ListedMarket } from '../../market/chainMarkets.ts'
import type { LivePosition } from '../../positions/livePositions.ts'
import type { OrderRequest } from '../orders/orderModel.ts'
import { planClosing, sizeUnit, type Closing } from './closing.ts'
import { closingOrder } from './closingOrder.ts'
import { BASE_SIZE_DECIMALS, PRICE_DECIMALS } from './decimals.ts'
import { marketOfPair, requireOpen } from './listed.ts'
import type { OrderPlan, TradingContext } from './plan.ts'
import { planOpening } from './planOpening.ts'

/** The calls of a normalized request. `positions` are the trader's open ones, oldest first; only a reduce-only order looks at them. */
export function planCreateOrder(
  request: OrderRequest,
  context: TradingContext,
  positions: readonly LivePosition[],
  trader: Address,
): OrderPlan {
  const market = marketOfPair(context.chain, request.pairIndex)
  if (request.type === 'market') requireOpen(context, market)
  return request.reduceOnly
    ? planReduction(request, market, context, positions)
    : planNewTrade(request, market, context, trader)
}

function planNewTrade(
  request: OrderRequest,
  market: ListedMarket,
  context: TradingContext,
  trader: Address,
): OrderPlan {
  const price = priceOf(request, market, context)
  const opening = planOpening({ ...request, market, price, trader }, context)
  return {
    kind: 'open',
    calls: [opening.call],
    action: { market: request.market, leverage: opening.leverage, spendUsd: opening.notionalUsd },
    validity: request.type === 'market' ? 'market' : 'resting',
    takes: { collateralIndex: request.collateralIndex, amount: opening.collateralAmount },
    request,
  }
}

/** Closes positions of the other side, oldest first, until the size is used up. More than all of them is all of them. */
function planReduction(
  request: OrderRequest,
  market: ListedMarket,
  context: TradingContext,
  positions: readonly LivePosition[],
): OrderPlan {
  const opposite = positions.filter(
    ({ state: { trade } }) => trade.pairIndex === request.pairIndex && trade.long !== (request.side === 'long'),
  )
  const [first] = opposite
  if (first === undefined) {
    const message = `There is no position in ${request.market} that a ${request.side} order would reduce.`
    throw new ApiError('POSITION_NOT_FOUND', message, { market: request.market, side: request.side })
  }
  const expectedPrice = priceOf(request, market, context)
  const closings: Closing[] = []
  let left = scaleDecimal(request.size, BASE_SIZE_DECIMALS)!
  for (const position of opposite) {
    // Less than the smallest size is what a position had beyond the decimals of the market, and was not asked for.
    if (left < sizeUnit(market.sizePrecision)) break
    const closing = planClosing({ position, market, size: left, expectedPrice }, context)
    closings.push(closing)
    left -= closing.size
  }
  return closingOrder({ request, first, closings, isSlippageSet: true }, context)
}

/** The price expected of a market order is the mark, unless another one is named. */
function priceOf({ price }: OrderRequest, market: ListedMarket, { markOf }: TradingContext): bigint {
  return price === null ? markOf(market) : scaleDecimal(price, PRICE_DECIMALS)!
}
