import { ApiError, parseMarketSymbol } from '@bezel/protocol'
import type { ChainMarkets, ListedMarket } from '../market/chainMarkets.ts'
import { marketNotFound } from '../market/marketNotFound.ts'
import type { TradingContext } from './plan.ts'

// Finds the markets and collaterals that a body or a position names.

export type Collateral = ChainMarkets['collaterals'][number]

/**
 * Precision of a pair that is closed to new trades: its own may not be known, and its open positions must be closable.
 */
const ANY_PRECISION = { pricePrecision: 10, sizePrecision: 8 }

/** Returns a market by its name. Throws `MARKET_NOT_FOUND`. */
export function marketNamed({ markets }: ChainMarkets, name: string): ListedMarket {
  const symbol = parseMarketSymbol(name)
  const market = symbol === undefined ? undefined : markets.get(symbol)
  if (market === undefined) throw marketNotFound(markets, name)
  return market
}

/**
 * Returns the market of an existing order or position, also when it is closed to new trades. Throws `MARKET_NOT_FOUND`.
 */
export function marketOfPair({ markets, pairs }: ChainMarkets, pairIndex: number): ListedMarket {
  const pair = pairs.get(pairIndex)
  if (pair === undefined) throw new ApiError('MARKET_NOT_FOUND', `There is no market with pair index ${pairIndex}.`)
  const market = markets.get(pair.symbol)
  return market?.pairIndex === pairIndex ? market : { ...pair, ...ANY_PRECISION }
}

/**
 * Returns a collateral by its symbol, an active token before an inactive one; the chain's default without a name.
 * Throws `COLLATERAL_NOT_SUPPORTED`.
 */
export function collateralNamed({ collaterals, defaultCollateralIndex }: ChainMarkets, name?: string): Collateral {
  const named = collaterals.filter(({ symbol, index }) =>
    name === undefined ? index === defaultCollateralIndex : symbol === name,
  )
  const collateral = named.find(({ isActive }) => isActive) ?? named[0]
  return collateral ?? refuseCollateral(name ?? 'default', collaterals)
}

/** Returns a collateral by its index. Throws `COLLATERAL_NOT_SUPPORTED`. */
export function collateralAt({ collaterals }: ChainMarkets, collateralIndex: number): Collateral {
  return (
    collaterals.find(({ index }) => index === collateralIndex) ??
    refuseCollateral(`with index ${collateralIndex}`, collaterals)
  )
}

/** Throws `COLLATERAL_NOT_SUPPORTED` for a token in which no new trade can be opened. */
export function requireActive(collateral: Collateral, { collaterals }: ChainMarkets): void {
  if (!collateral.isActive) refuseCollateral(collateral.symbol, collaterals)
}

/**
 * Throws `MARKET_CLOSED`. Only actions that need an answer of the oracle are refused while the market is closed: market
 * orders, closes, and changes of leverage. A resting order, its update and cancel, and a position's sl and tp wait for
 * prices anyway, so they are accepted at any hour.
 */
export function requireOpen({ isOpen, opensAt }: TradingContext, market: ListedMarket): void {
  if (isOpen(market)) return
  const opensAtMs = opensAt(market)
  const until = opensAtMs === null ? '' : ` It opens at ${new Date(opensAtMs).toISOString()}.`
  const message = `${market.symbol} is closed now, so nothing would answer a market request.${until}`
  throw new ApiError('MARKET_CLOSED', message, { market: market.symbol, opensAt: opensAtMs })
}

function refuseCollateral(collateral: string, collaterals: readonly Collateral[]): never {
  const supported = collaterals.filter(({ isActive }) => isActive).map(({ symbol }) => symbol)
  const message = `The collateral ${collateral} is not supported here; ${supported.join(', ')} can be used.`
  throw new ApiError('COLLATERAL_NOT_SUPPORTED', message, { collateral, supported })
}
