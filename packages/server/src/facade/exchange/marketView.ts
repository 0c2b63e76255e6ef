import { BaseSize, Price, type Decimal } from '@bezel/protocol'
import type { ListedMarket } from '../../trading/market/chainMarkets.ts'
import { positionSize } from '../../trading/plan/closing.ts'
import type { TradingContext } from '../../trading/plan/plan.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { coinsOf, nativePrice, nativeSize, sizeStep, type Coin } from '../coins.ts'
import { bestPrices } from '../../market/orderBook.ts'
import { ERR, ExchangeErr } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'

/** A coin that can be traded, with its market. */
export interface TradedCoin {
  readonly coin: Coin
  readonly market: ListedMarket
}

/** The state of a coin's market that orders are checked against. Prices are for one unit, sizes count units. */
export interface MarketView extends TradedCoin {
  readonly trading: TradingContext
  readonly mark: Price
  readonly bid: Price
  readonly ask: Price
  /** The trader's positions in this coin, oldest first. */
  readonly positions: readonly LivePosition[]
}

/** Returns a coin with its market. Throws an `ExchangeErr` for a coin that is not traded. */
export function tradedCoin({ chain }: TradingContext, asset: number): TradedCoin {
  const coin = coinsOf(chain).universe[asset]
  const market = coin?.symbol === undefined ? undefined : chain.markets.get(coin.symbol)
  if (coin === undefined) throw new ExchangeErr(`There is no asset ${asset}.`)
  if (market === undefined || coin.isDelisted) throw new ExchangeErr(`${coin.name} is delisted: it can not be traded.`)
  return { coin, market }
}

/**
 * Returns the current view of a coin's market, at its last price: orders that reduce go on with an old one, and those
 * that open are refused by the native rules. Throws `NOT_READY` while there is no price.
 */
export function marketView({ parts, agent }: ActionContext, asset: number): MarketView {
  const trading = parts.orders.trading()
  const { coin, market } = tradedCoin(trading, asset)
  const mark = trading.lastMarkOf(market).price
  const { bid, ask } = bestPrices(trading.chain, market, mark)
  const positions = parts.orders.positions
    .ofTrader(agent.trader)
    .filter(({ state }) => state.trade.pairIndex === market.pairIndex)
  return { trading, coin, market, mark, bid, ask, positions }
}

/** Returns the total size of the positions. */
export function heldSize({ trading }: Pick<MarketView, 'trading'>, positions: readonly LivePosition[]): BaseSize {
  return BaseSize.of(positions.reduce((size, position) => size + positionSize(position, trading), 0n))
}

/**
 * True when a size is less than one size step short of everything held. Clients see sizes rounded to steps, and a
 * remainder below one step could not be named in an order.
 */
export function isAllHeld({ coin }: Pick<TradedCoin, 'coin'>, size: BaseSize, held: BaseSize): boolean {
  return held - size < sizeStep(coin)
}

/** Converts a price of the coin to the native unit. Throws an `ExchangeErr` unless it is above zero. */
export function priceOf(
  { coin }: Pick<TradedCoin, 'coin'>,
  px: Decimal,
): { readonly text: Decimal; readonly units: Price } {
  const text = nativePrice(coin, px)
  const units = Price.parseTruncated(text)
  if (units <= 0n) throw new ExchangeErr(ERR.invalidPrice)
  return { text, units }
}

/** Converts a size of the coin to native units. Throws an `ExchangeErr` unless it is above zero. */
export function sizeOf(
  { coin }: Pick<TradedCoin, 'coin'>,
  sz: Decimal,
): { readonly text: Decimal; readonly units: BaseSize } {
  const text = nativeSize(coin, sz)
  if (text === '0') throw new ExchangeErr(ERR.zeroSize)
  if (text.startsWith('-')) throw new ExchangeErr(`${ERR.invalidSize}.`)
  return { text, units: BaseSize.parseTruncated(text) }
}
