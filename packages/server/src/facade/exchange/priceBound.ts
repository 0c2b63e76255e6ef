import { max, min, Price, Slippage, type Decimal } from '@bezel/protocol'
import { closingSlippageOf, DEFAULT_CLOSING_SLIPPAGE } from '../../trading/plan/closingSlippage.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { steppedPx } from '../priceText.ts'
import { ERR, ExchangeErr } from './errStrings.ts'
import type { MarketView } from './marketView.ts'

/** The native terms of a market order with a worst price: the expected price, and the slippage allowed from it. */
export interface BoundTerms {
  readonly price: Decimal
  /** Percent. */
  readonly slippage: Decimal
}

/** A slippage of 100 percent. */
const WHOLE = 100n * Slippage.one

/** The largest slippage that fits the contracts' type (uint16). */
const MAX_SLIPPAGE = Slippage.of(65_535n)

/** The largest distance of a price from the mark, in percent. */
const MAX_DISTANCE = 80n

/** True when an order at this price would be executed at once, with the spread included. */
export function isMarketable({ bid, ask }: MarketView, isBuy: boolean, price: Price): boolean {
  return isBuy ? price >= ask : price <= bid
}

/**
 * Returns the terms for an order that opens. The expected price is the current mark and the slippage is the distance
 * from it to the bound, rounded down, so that together they never allow a worse price. Throws when the bound is not
 * beyond the mark.
 */
export function boundTerms(view: MarketView, isBuy: boolean, bound: Price): BoundTerms {
  const step = 10n ** BigInt(Price.decimals - view.market.pricePrecision)
  const expected = view.mark - (view.mark % step)
  const distance = isBuy ? bound - expected : expected - bound
  const slippage = expected > 0n && distance > 0n ? (distance * WHOLE) / expected : 0n
  if (slippage === 0n) throw new ExchangeErr(ERR.noMatch)
  return {
    price: Price.format(Price.of(expected)),
    slippage: Slippage.format(min(Slippage.of(slippage), MAX_SLIPPAGE)),
  }
}

/**
 * Returns the terms for an order that closes. The chain keeps one slippage per position, which its stop loss uses too:
 * a tight bound left behind would make the stop fail when it is needed. So the slippage in force stays, and the
 * expected price is chosen so that the bound lies at the end of that slippage.
 */
export function closingTerms(
  view: MarketView,
  isBuy: boolean,
  bound: Price,
  positions: readonly LivePosition[],
): BoundTerms {
  // Throws for bounds that an opening order refuses too.
  boundTerms(view, isBuy, bound)
  const slippage = positions.map(closingSlippageOf).reduce(max<Slippage>, DEFAULT_CLOSING_SLIPPAGE)
  const step = 10n ** BigInt(Price.decimals - view.market.pricePrecision)
  const width = (isBuy ? WHOLE + slippage : WHOLE - slippage) * step
  const steps = isBuy ? (bound * WHOLE) / width : (bound * WHOLE + width - 1n) / width
  if (steps === 0n) throw new ExchangeErr(ERR.noMatch)
  return {
    price: Price.format(Price.of(steps * step)),
    slippage: Slippage.format(slippage),
  }
}

/** Throws for a price so far from the mark that it can only be a mistake. */
export function refuseFarPrice({ mark }: MarketView, price: Price): void {
  const distance = price > mark ? price - mark : mark - price
  if (distance * 100n > mark * MAX_DISTANCE) throw new ExchangeErr(ERR.farPrice)
}

export function postOnlyRefusal({ coin, bid, ask }: MarketView): ExchangeErr {
  return new ExchangeErr(`${ERR.postOnly} bbo was ${steppedPx(coin, bid)}@${steppedPx(coin, ask)}.`)
}
