import { ApiError, type CreateOrderRequest, type Decimal } from '@bezel/protocol'
import type { OrderRequest } from '../orders/orderModel.ts'
import { readTerms, requirePrecision, type Issue } from './bodyTerms.ts'
import { LEVERAGE_DECIMALS, SLIPPAGE_DECIMALS } from './decimals.ts'
import { collateralNamed, marketNamed } from './listed.ts'
import type { TradingContext } from './plan.ts'

/** Percent; what the interface gives an order without one, and what the Diamond closes with when nothing else was set. */
export const DEFAULT_SLIPPAGE = '1' as Decimal

/**
 * A body with its defaults filled in, checked by everything that never changes about it, so that a repeat of it is recognised whatever
 * the market does meanwhile. What can change (hours, limits of leverage and size, whether a collateral is active) is checked when it is planned.
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
  requirePrecisions({ leverage }, LEVERAGE_DECIMALS)
  requirePrecisions({ slippage }, SLIPPAGE_DECIMALS)
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

/** On chain 0 is no stop loss and no take profit; so it is in a body. */
export function noneWhenZero(value: Decimal | undefined): Decimal | null {
  return value === undefined || value === '0' ? null : value
}

function missingPrice({ type, price }: CreateOrderRequest): Issue[] {
  return type !== 'market' && price === undefined
    ? [{ path: 'body.price', message: `is required for a ${type} order` }]
    : []
}

/** A close waits for nothing and leaves nothing that a stop loss or take profit could hold on to. */
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
