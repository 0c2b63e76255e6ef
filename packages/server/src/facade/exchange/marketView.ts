import type { LivePosition } from '../../trading/positions/livePosition.ts'
import { scaleDecimalTruncated, type Decimal } from '@bezel/protocol'
import type { ListedMarket } from '../../trading/market/chainMarkets.ts'
import { positionSize } from '../../trading/plan/closing.ts'
import { BASE_SIZE_DECIMALS, PRICE_DECIMALS } from '../../trading/plan/decimals.ts'
import type { TradingContext } from '../../trading/plan/plan.ts'
import { coinsOf, nativePrice, nativeSize, sizeStep, type Coin } from '../coins.ts'
import { bestPrices } from '../info/bestPrices.ts'
import { ERR } from './errStrings.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext } from './exchangeParts.ts'

/** A coin that can be traded. */
export interface TradedCoin {
  readonly coin: Coin
  readonly market: ListedMarket
}

/** A coin as an order is judged by it. Prices are of one unit (1e10), sizes units (1e18). */
export interface MarketView extends TradedCoin {
  readonly trading: TradingContext
  readonly mark: bigint
  readonly bid: bigint
  readonly ask: bigint
  /** Of the trader in this coin, oldest first. */
  readonly positions: readonly LivePosition[]
}

/** Throws an `ExchangeErr` for a coin that is not traded. */
export function tradedCoin({ chain }: TradingContext, asset: number): TradedCoin {
  const coin = coinsOf(chain).universe[asset]
  const market = coin?.symbol === undefined ? undefined : chain.markets.get(coin.symbol)
  if (coin === undefined) throw new ExchangeErr(`There is no asset ${asset}.`)
  if (market === undefined || coin.isDelisted) throw new ExchangeErr(`${coin.name} is delisted: it can not be traded.`)
  return { coin, market }
}

/** Throws `NOT_READY` while the price is stale. */
export function marketView({ parts, agent }: ActionContext, asset: number): MarketView {
  const trading = parts.orders.trading()
  const { coin, market } = tradedCoin(trading, asset)
  const mark = trading.markOf(market)
  const { bid, ask } = bestPrices(market, mark)
  const positions = parts.orders.positions
    .ofTrader(agent.trader)
    .filter(({ state }) => state.trade.pairIndex === market.pairIndex)
  return { trading, coin, market, mark, bid, ask, positions }
}

/** What the trader holds on one side. */
export function heldSize({ trading }: Pick<MarketView, 'trading'>, positions: readonly LivePosition[]): bigint {
  return positions.reduce((size, position) => size + positionSize(position, trading), 0n)
}

/** Whether a size is all that is held: clients know no more of it than its steps, and what is left of less could not be named in an order. */
export function isAllHeld({ coin }: Pick<TradedCoin, 'coin'>, size: bigint, held: bigint): boolean {
  return held - size < sizeStep(coin)
}

/** A price of the coin, as the native interface takes it. Throws an `ExchangeErr` unless it is above zero. */
export function priceOf(
  { coin }: Pick<TradedCoin, 'coin'>,
  px: Decimal,
): { readonly text: Decimal; readonly units: bigint } {
  const text = nativePrice(coin, px)
  const units = scaleDecimalTruncated(text, PRICE_DECIMALS)
  if (units <= 0n) throw new ExchangeErr(ERR.invalidPrice)
  return { text, units }
}

/** A size of the coin in the same way. */
export function sizeOf(
  { coin }: Pick<TradedCoin, 'coin'>,
  sz: Decimal,
): { readonly text: Decimal; readonly units: bigint } {
  const text = nativeSize(coin, sz)
  if (text === '0') throw new ExchangeErr(ERR.zeroSize)
  if (text.startsWith('-')) throw new ExchangeErr(`${ERR.invalidSize}.`)
  return { text, units: scaleDecimalTruncated(text, BASE_SIZE_DECIMALS) }
}
