import { ApiError, DEFAULT_SLIPPAGE, Leverage, Slippage, type CreateOrderRequest, type Decimal } from '@bezel/protocol'
import type { OrderRequest } from '../orders/orderModel.ts'
import { readTerms, requirePrecision, type Issue } from './bodyTerms.ts'
import { collateralNamed, marketNamed } from './listed.ts'
import type { TradingContext } from './plan.ts'

/**
 * Returns the request of a body, with its defaults filled in and checked against everything that never changes, so that
 * a repeat is recognised whatever the market does meanwhile. Rules that can change (trading hours, limits of leverage
 * and size, active collaterals) are checked when the order is planned.
 */
export function normalizeOrder(body: CreateOrderRequest, { chain }: TradingContext): OrderRequest {
  const { size, price, leverage, sl, tp, slippage } = readTerms(
    { size: body.size, price: body.price, leverage: body.leverage, sl: body.sl, tp: body.tp, slippage: body.slippage },
    missingPrice(body),
  )
  const market = marketNamed(chain, body.market)
  const collateral = collateralNamed(chain, body.collateral)
  requirePrecisions({ price, sl, tp }, market.pricePrecision)
  requirePrecisions({ size }, market.sizePrecision)
  requirePrecisions({ leverage }, Leverage.decimals)
  requirePrecisions({ slippage }, Slippage.decimals)
  const reduceOnly = body.reduceOnly ?? false
  if (reduceOnly) refuseUnclosable(body.type, noneWhenZero(sl) ?? noneWhenZero(tp))
  return {
    kind: reduceOnly ? 'close' : 'open',
    market: market.symbol,
    pairIndex: market.pairIndex,
    side: body.side,
    type: body.type,
    size: size!,
    price: price ?? null,
    leverage: leverage!,
    collateral: collateral.symbol,
    collateralIndex: collateral.index,
    sl: noneWhenZero(sl),
    tp: noneWhenZero(tp),
    reduceOnly,
    slippage: slippage ?? DEFAULT_SLIPPAGE,
    clientId: body.clientId ?? null,
    legs: [],
  }
}

/** Returns `null` for 0, which means no stop loss and no take profit, in a body as on the chain. */
export function noneWhenZero(value: Decimal | undefined): Decimal | null {
  return value === undefined || value === '0' ? null : value
}

function missingPrice({ type, price }: CreateOrderRequest): Issue[] {
  return type !== 'market' && price === undefined
    ? [{ path: 'body.price', message: `is required for a ${type} order` }]
    : []
}

/**
 * Throws `UNSUPPORTED` for a close that is no market order or that has an sl or tp: a close can't rest, and nothing
 * remains to which a stop loss or take profit could apply.
 */
function refuseUnclosable(type: CreateOrderRequest['type'], attached: Decimal | null): void {
  if (type !== 'market') {
    throw new ApiError('UNSUPPORTED', `There is no reduce-only ${type} order; set sl or tp of the position instead.`)
  }
  if (attached !== null) {
    throw new ApiError('UNSUPPORTED', 'A reduce-only order has no sl and no tp; set those of the position instead.')
  }
}

function requirePrecisions(terms: Readonly<Record<string, Decimal | undefined>>, maxDecimals: number): void {
  for (const [field, value] of Object.entries(terms)) {
    if (value !== undefined) requirePrecision(field, value, maxDecimals)
  }
}
