import type { LivePosition } from '../positions/positionModel.ts'
import { ApiError, BaseSize, Price, type Address } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { OrderRequest } from '../orders/orderModel.ts'
import { planClosing, sizeUnit, type Closing, closingOrder } from './closing.ts'
import { collateralAt, marketOfPair, requireOpen } from './listed.ts'
import type { OrderPlan, TradingContext } from './plan.ts'
import { planOpening } from './planOpening.ts'
import { checkOrderStops } from './stops.ts'

/** The ordering trader, with the positions that a reduce-only order can close. */
export interface OrderingAccount {
  readonly trader: Address
  /** Open positions, oldest first. */
  readonly positions: readonly LivePosition[]
  /** Collateral that the body names, if any; the request itself has the chain's default where the body names none. */
  readonly collateral: string | undefined
}

/** Plans the calls of a normalized request. */
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
  const price = expectedPrice(request, market, context)
  const opening = planOpening({ ...request, market, price, trader }, context)
  return {
    kind: 'open',
    calls: [opening.call],
    action: { market: request.market, leverage: opening.leverage, spendUsd: opening.notionalUsd },
    validity: request.type === 'market' ? 'market' : 'resting',
    takes: { collateralIndex: request.collateralIndex, amount: opening.collateralAmount },
    warnings: checkOrderStops({ ...request, market, price }, context).warnings,
    request,
  }
}

/**
 * Plans the close of positions of the other side, oldest first, until the size is used up; a larger size closes all of
 * them. All are in one collateral, the named one or that of the oldest, because a fill is an amount of one token.
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
  const closePrice = request.price === null ? context.lastMarkOf(market).price : Price.parse(request.price)!
  const closings: Closing[] = []
  let left = BaseSize.parse(request.size)!
  for (const position of opposite) {
    if (position.state.trade.collateralIndex !== collateralIndex) continue
    // A rest below the smallest size stems from a position's further decimals and was not requested.
    if (left < sizeUnit(market.sizePrecision)) break
    const closing = planClosing({ position, market, size: left, expectedPrice: closePrice }, context)
    closings.push(closing)
    left = BaseSize.of(left - closing.size)
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

/** Returns the named price, or the mark when a market order names none. */
export function expectedPrice({ price }: OrderRequest, market: ListedMarket, { markOf }: TradingContext): Price {
  return price === null ? markOf(market) : Price.parse(price)!
}
