import type { LivePosition } from '../../trading/positions/livePosition.ts'
import { formatDecimal, type Decimal } from '@bezel/protocol'
import { PRICE_DECIMALS, SLIPPAGE_DECIMALS } from '../../trading/plan/decimals.ts'
import { larger } from '../../trading/valuation/scales.ts'
import { steppedPx } from '../priceText.ts'
import { ERR } from './errStrings.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { MarketView } from './marketView.ts'

/** A market order that is executed no worse than at a price: the native terms for it. */
export interface BoundTerms {
  readonly price: Decimal
  /** Percent. */
  readonly slippage: Decimal
}

/** Slippage (1e3 per percent) of 100 percent. */
const WHOLE = 100n * 10n ** BigInt(SLIPPAGE_DECIMALS)
/** The largest that the contracts hold. */
const MAX_SLIPPAGE = 65_535n
/** Of a position that none was set for, 1e3 per percent. */
const DEFAULT_CLOSING_SLIPPAGE = 1_000n
/** Percent that a price may be away from the mark. */
const MAX_DISTANCE = 80n

/** Whether an order at this price (1e10) would be executed at once, spread included. */
export function isMarketable({ bid, ask }: MarketView, isBuy: boolean, price: bigint): boolean {
  return isBuy ? price >= ask : price <= bid
}

/**
 * The expected price is the mark of now and the slippage the way from there to the bound, rounded down, so that together they never allow a worse
 * price. Throws when there is no way at all.
 */
export function boundTerms(view: MarketView, isBuy: boolean, bound: bigint): BoundTerms {
  const step = 10n ** BigInt(PRICE_DECIMALS - view.market.pricePrecision)
  const expected = view.mark - (view.mark % step)
  const distance = isBuy ? bound - expected : expected - bound
  const slippage = expected > 0n && distance > 0n ? (distance * WHOLE) / expected : 0n
  if (slippage === 0n) throw new ExchangeErr(ERR.noMatch)
  return {
    price: formatDecimal(expected, PRICE_DECIMALS),
    slippage: formatDecimal(slippage > MAX_SLIPPAGE ? MAX_SLIPPAGE : slippage, SLIPPAGE_DECIMALS),
  }
}

/**
 * The same for an order that closes. The chain keeps one slippage per position, for its stop loss too: a tight bound must not be left behind there, or
 * the stop would fail when it is needed. So the slippage that is in force stays, and the expected price is where the bound lies at its end.
 */
export function closingTerms(
  view: MarketView,
  isBuy: boolean,
  bound: bigint,
  positions: readonly LivePosition[],
): BoundTerms {
  // Throws for the same bounds.
  boundTerms(view, isBuy, bound)
  const inForce = positions.map(({ state }) => BigInt(state.maxClosingSlippageP))
  const slippage = inForce.reduce(larger, DEFAULT_CLOSING_SLIPPAGE)
  const step = 10n ** BigInt(PRICE_DECIMALS - view.market.pricePrecision)
  const width = (isBuy ? WHOLE + slippage : WHOLE - slippage) * step
  const steps = isBuy ? (bound * WHOLE) / width : (bound * WHOLE + width - 1n) / width
  if (steps === 0n) throw new ExchangeErr(ERR.noMatch)
  return {
    price: formatDecimal(steps * step, PRICE_DECIMALS),
    slippage: formatDecimal(slippage, SLIPPAGE_DECIMALS),
  }
}

/** Throws for a price (1e10) that can only be a mistake. */
export function refuseFarPrice({ mark }: MarketView, price: bigint): void {
  const distance = price > mark ? price - mark : mark - price
  if (distance * 100n > mark * MAX_DISTANCE) throw new ExchangeErr(ERR.farPrice)
}

export function postOnlyRefusal({ coin, bid, ask }: MarketView): ExchangeErr {
  return new ExchangeErr(`${ERR.postOnly} bbo was ${steppedPx(coin, bid)}@${steppedPx(coin, ask)}.`)
}
