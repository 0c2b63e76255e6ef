import type { LivePosition } from '../positions/livePosition.ts'
import { ApiError, scaleDecimal, type Address } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { OrderRequest } from '../orders/orderModel.ts'
import { planClosing, sizeUnit, type Closing } from './closing.ts'
import { closingOrder } from './closingOrder.ts'
import { BASE_SIZE_DECIMALS, PRICE_DECIMALS } from './decimals.ts'
import { collateralAt, marketOfPair, requireOpen } from './listed.ts'
import type { OrderPlan, TradingContext } from './plan.ts'
import { planOpening } from './planOpening.ts'

/** Who orders, and what of theirs a reduce-only order can close. */
export interface OrderingAccount {
  readonly trader: Address
  /** The open ones, oldest first. */
  readonly positions: readonly LivePosition[]
  /** As the body names it: the request has the chain's default where it names none. */
  readonly collateral: string | undefined
}

/** The calls of a normalized request. */
export function planCreateOrder(request: OrderRequest, context: TradingContext, account: OrderingAccount): OrderPlan {
  const market = marketOfPair(context.chain, request.pairIndex)
  if (request.type === 'market') requireOpen(context, market)
  return request.reduceOnly
    ? planReduction(request, market, context, account)
    : planNewTrade(request, market, context, account)
}

function planNewTrade(
  request: OrderRequest,
  market: ListedMarket,
  context: TradingContext,
  { trader }: OrderingAccount,
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

/**
 * Closes positions of the other side, oldest first, until the size is used up. More than all of them is all of them. They are in one collateral,
 * the named one or that of the oldest, because what an order fills is told as an amount of one token.
 */
function planReduction(
  request: OrderRequest,
  market: ListedMarket,
  context: TradingContext,
  { positions, collateral }: OrderingAccount,
): OrderPlan {
  const opposite = positions.filter(
    ({ state: { trade } }) => trade.pairIndex === request.pairIndex && trade.long !== (request.side === 'long'),
  )
  const first = opposite.find(
    ({ state: { trade } }) =>
      collateral === undefined || collateralAt(context.chain, trade.collateralIndex).symbol === collateral,
  )
  if (first === undefined) throw nothingToReduce(request, collateral)
  const { collateralIndex } = first.state.trade
  const expectedPrice = priceOf(request, market, context)
  const closings: Closing[] = []
  let left = scaleDecimal(request.size, BASE_SIZE_DECIMALS)!
  for (const position of opposite) {
    if (position.state.trade.collateralIndex !== collateralIndex) continue
    // Less than the smallest size is what a position had beyond the decimals of the market, and was not asked for.
    if (left < sizeUnit(market.sizePrecision)) break
    const closing = planClosing({ position, market, size: left, expectedPrice }, context)
    closings.push(closing)
    left -= closing.size
  }
  return closingOrder({ request, first, closings }, context)
}

function nothingToReduce({ market, side }: OrderRequest, collateral: string | undefined): ApiError {
  const inCollateral = collateral === undefined ? '' : ` with collateral ${collateral}`
  const message = `There is no position in ${market}${inCollateral} that a ${side} order would reduce.`
  return new ApiError('POSITION_NOT_FOUND', message, {
    market,
    side,
    ...(collateral === undefined ? {} : { collateral }),
  })
}

/** The price expected of a market order is the mark, unless another one is named. */
function priceOf({ price }: OrderRequest, market: ListedMarket, { markOf }: TradingContext): bigint {
  return price === null ? markOf(market) : scaleDecimal(price, PRICE_DECIMALS)!
}
