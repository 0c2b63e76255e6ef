import { ApiError, parseMarketSymbol } from '@bezel/protocol'
import type { ChainMarkets, ListedMarket } from '../market/chainMarkets.ts'
import type { TradingContext } from './plan.ts'

// What a body or a position names, found among what the chain lists.

export type Collateral = ChainMarkets['collaterals'][number]

/** Of a pair that is closed to new trades: its own precision may not be known, and what is still open in it must be closable. */
const ANY_PRECISION = { pricePrecision: 10, sizePrecision: 8 }

/** Throws `MARKET_NOT_FOUND`. */
export function marketNamed({ markets }: ChainMarkets, name: string): ListedMarket {
  const symbol = parseMarketSymbol(name)
  const market = symbol === undefined ? undefined : markets.get(symbol)
  if (market === undefined) throw new ApiError('MARKET_NOT_FOUND', `There is no market ${name}.`, { market: name })
  return market
}

/** The market of something that exists on the chain, also when nothing new is opened in it. Throws `MARKET_NOT_FOUND`. */
export function marketOfPair({ markets, pairs }: ChainMarkets, pairIndex: number): ListedMarket {
  const pair = pairs.get(pairIndex)
  if (pair === undefined) throw new ApiError('MARKET_NOT_FOUND', `There is no market with pair index ${pairIndex}.`)
  const market = markets.get(pair.symbol)
  return market?.pairIndex === pairIndex ? market : { ...pair, ...ANY_PRECISION }
}

/** By symbol, an active token before one that is not; `undefined` is the chain's default. Throws `COLLATERAL_NOT_SUPPORTED`. */
export function collateralNamed({ collaterals, defaultCollateralIndex }: ChainMarkets, name?: string): Collateral {
  const named = collaterals.filter(({ symbol, index }) =>
    name === undefined ? index === defaultCollateralIndex : symbol === name,
  )
  const collateral = named.find(({ isActive }) => isActive) ?? named[0]
  return collateral ?? refuseCollateral(name ?? 'default', collaterals)
}

/** Throws `COLLATERAL_NOT_SUPPORTED`. */
export function collateralAt({ collaterals }: ChainMarkets, collateralIndex: number): Collateral {
  return (
    collaterals.find(({ index }) => index === collateralIndex) ??
    refuseCollateral(`with index ${collateralIndex}`, collaterals)
  )
}

/** Throws `COLLATERAL_NOT_SUPPORTED` for a token in which nothing new is opened. */
export function requireActive(collateral: Collateral, { collaterals }: ChainMarkets): void {
  if (!collateral.isActive) refuseCollateral(collateral.symbol, collaterals)
}

/**
 * Throws `MARKET_CLOSED`. Only what needs an answer of the oracle is refused while it does not answer: market orders, closes, and changes of
 * leverage. A resting order, its update and its cancel, and a position's sl and tp wait for prices anyway, so they are taken at any hour.
 */
export function requireOpen({ isOpen }: TradingContext, market: ListedMarket): void {
  if (isOpen(market)) return
  const message = `${market.symbol} is closed now, so nothing would answer a market request.`
  throw new ApiError('MARKET_CLOSED', message, { market: market.symbol })
}

function refuseCollateral(collateral: string, collaterals: readonly Collateral[]): never {
  const supported = collaterals.filter(({ isActive }) => isActive).map(({ symbol }) => symbol)
  const message = `The collateral ${collateral} is not supported here; ${supported.join(', ')} can be used.`
  throw new ApiError('COLLATERAL_NOT_SUPPORTED', message, { collateral, supported })
}
