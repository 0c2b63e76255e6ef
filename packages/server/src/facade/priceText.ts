import { MicroUsd, Price, Usd, type CollateralAmount, type Decimal } from '@bezel/protocol'
import { coinPrice, type Coin } from './coins.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { usdOfCollateral } from '../trading/valuation/collateralAmounts.ts'

/** Direction of rounding for a price between two steps. */
type Rounding = 'down' | 'up' | 'nearest'

/**
 * Writes the price of one base unit as the price of one coin, always with all the decimals of the market: clients
 * derive the price step from the number of decimals, and fail where there is no decimal point.
 */
export function steppedPx(coin: Coin, price: Price, rounding: Rounding = 'nearest'): string {
  const step = 10n ** BigInt(Math.max(0, Price.decimals - coin.pxDecimals))
  return fixedText(roundTo(coinPrice(coin, price), step, rounding), coin.pxDecimals)
}

/**
 * Writes an execution or liquidation price, rounded to the nearest step of the market: the chain has more decimals than
 * any client can write in an order.
 */
export function nearestPx(coin: Coin, price: Price): string {
  const step = 10n ** BigInt(Math.max(0, Price.decimals - coin.pxDecimals))
  const rounded = roundTo(coinPrice(coin, price), step, 'nearest')
  // A price below half a step is not shown as zero.
  return pointed(Price.format(rounded === 0n ? coinPrice(coin, price) : rounded))
}

/** Writes a native price as `nearestPx` does. */
export function nearestPxText(coin: Coin, price: Decimal): string {
  return nearestPx(coin, Price.parseTruncated(price))
}

/** Rounds a positive value to a multiple of `step`. */
export function roundTo<Value extends bigint>(value: Value, step: bigint, rounding: Rounding): Value {
  const added = { down: 0n, up: step - 1n, nearest: step / 2n }[rounding]
  return (((value + added) / step) * step) as Value
}

/** Writes a price with at least `places` decimals. */
function fixedText(value: Price, places: number): string {
  const [whole = '0', fraction = ''] = Price.format(value).split('.')
  return `${whole}.${fraction.padEnd(places, '0')}`
}

/** Appends `.0` to a whole number, because some clients split numbers at the decimal point. */
export function pointed(text: string): string {
  return text.includes('.') ? text : `${text}.0`
}

/** Converts an amount of a token to USD. One USDC counts as one USD, whatever it is quoted at. */
export function usdOf(token: ChainMarkets['collaterals'][number], amount: CollateralAmount): MicroUsd {
  return token.symbol === 'USDC' ? MicroUsd.of(amount) : microUsd(usdOfCollateral(amount, token.state))
}

/** Converts USD to the facade's scale (1e6), truncated toward zero. */
export function microUsd(usd: Usd): MicroUsd {
  return MicroUsd.of((usd * MicroUsd.one) / Usd.one)
}
