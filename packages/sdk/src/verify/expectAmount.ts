import {
  BaseSize,
  CollateralPrice,
  HUNDRED_PERCENT,
  Leverage,
  Price,
  Slippage,
  Usd,
  type OrderType,
  type PercentP,
  type Side,
} from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { expectWithin, WHOLE_SLIPPAGE } from './expect.ts'
import { scaled, slippageUnits } from './scales.ts'
import type { CollateralFacts, VerifyContext } from './verifyContext.ts'

// The Diamond knows no sizes: it takes collateral, and the size is collateral x leverage / P1, where P1 is its price
// after spread and volume impact. So the size of an order is checked as the collateral it takes.

/** The terms that decide how much collateral an order takes. */
export interface Sized {
  readonly side: Side
  readonly type: OrderType
  readonly size: string
  /** Trigger of a resting order. The `price` of a market order never decides an amount. */
  readonly price?: string | null | undefined
  readonly leverage: string
  readonly slippage?: string | undefined
}

/** Tolerance of an amount whose price impact was read from the chain: 0.1 %. */
const READ_ROOM = Slippage.of(Slippage.one / 10n)

/** Largest half of a size step in USD, which bounds what the service says about it: real steps are below 1 USD. */
const MAX_HALF_STEP_USD = Usd.one

const USD_TO_NOTIONAL = Price.one

/**
 * Returns the price that an order is expected to execute at: the market's for a market order, the trigger for a resting
 * one. A trigger that the market has already passed executes at the market's price.
 */
export function basePrice(
  { type, side, price }: Pick<Sized, 'type' | 'side' | 'price'>,
  expectedPrice: string | undefined,
): Price {
  const mark = expectedPrice === undefined ? undefined : scaled('expectedPrice', expectedPrice, Price)
  if (type === 'market') {
    if (mark !== undefined) return mark
    throw new UnverifiedTransactionError('price', 'an expectedPrice to compare with, and none is known', 'none')
  }
  const trigger = scaled('price', price ?? '', Price)
  if (mark === undefined) return trigger
  // A limit that buys and a stop that sells wait for a lower price.
  const isBelow = (type === 'limit') === (side === 'long')
  return mark < trigger === isBelow ? mark : trigger
}

/**
 * Checks the service's word for the market of a resting order. A trigger that the market has passed is counted at the
 * market's price; where that takes more collateral than the trigger by more than the slippage, the service alone is no
 * witness, and the caller has to name the price.
 */
export function expectCredibleMark(terms: Omit<Sized, 'leverage'>, mark: string): void {
  if (terms.type === 'market') return
  const trigger = scaled('price', terms.price ?? '', Price)
  const room = (trigger * slippageUnits(terms.slippage)) / WHOLE_SLIPPAGE
  if (basePrice(terms, mark) <= trigger + room) return
  const expected = `your own expectedPrice, because the market has passed the trigger by more than the slippage`
  throw new UnverifiedTransactionError('price', expected, `the service's word for ${mark}`)
}

/**
 * Checks the collateral of an opening. It may differ from size x reference price by the order's own slippage, because
 * beyond that the Diamond refuses the order anyway. Where the impact was read from the chain it may differ from
 * size x P1 by 0.1 % only. `openPrice` is the price in the transaction, which was checked before; without a price in
 * the request it is the market's at the moment of preparation, and so the one that the size was computed with.
 */
export function expectAmount(terms: Sized, openPrice: bigint, context: VerifyContext, found: bigint): void {
  const { expectedPrice, impactP, collateral } = context
  const reference = basePrice(terms, expectedPrice)
  const room = slippageUnits(terms.slippage)
  expectWithin('collateralAmount', collateralRange(terms, { price: reference, room }, collateral), found)
  if (impactP === undefined) return
  const isAtMarket = terms.type === 'market' && (terms.price ?? null) === null
  const price = shifted(isAtMarket ? openPrice : reference, impactP)
  expectWithin('collateralAmount', collateralRange(terms, { price, room: READ_ROOM }, exact(collateral)), found)
}

/**
 * Checks that the collateral which a resting order holds buys the size at its new price too, so that the price may be
 * changed in place: up to half a step of the market's sizes. `held` is unknown without a reader of the chain; then the
 * new price may differ from the old one by the order's slippage.
 */
export function expectHeldAmount(
  terms: Sized,
  oldPrice: string,
  context: VerifyContext,
  held: bigint | undefined,
): void {
  const { expectedPrice, impactP, collateral, market } = context
  if (held === undefined || impactP === undefined) {
    const old = scaled('price', oldPrice, Price)
    const off = (old * slippageUnits(terms.slippage)) / WHOLE_SLIPPAGE
    return expectWithin('price', { least: old - off, most: old + off }, scaled('price', terms.price ?? '', Price))
  }
  const price = shifted(basePrice(terms, expectedPrice), impactP)
  const halfStepUsd = (10n ** BigInt(Usd.decimals - market.sizePrecision) * price) / Price.one / 2n
  const roomUsd = halfStepUsd < MAX_HALF_STEP_USD ? halfStepUsd : MAX_HALF_STEP_USD
  expectWithin(
    'collateral of the order',
    collateralRange(terms, { price, room: READ_ROOM, roomUsd }, exact(collateral)),
    held,
  )
}

interface Tolerances {
  readonly price: bigint
  readonly room: Slippage
  readonly roomUsd?: bigint
}

/** Returns the collateral that a size may take at a price, in units of the token. */
function collateralRange(
  { size, leverage }: Pick<Sized, 'size' | 'leverage'>,
  { price, room, roomUsd = 0n }: Tolerances,
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  // Exact (1e28), so that only the last division rounds.
  const notional = scaled('size', size, BaseSize) * price
  const off = (notional * room) / WHOLE_SLIPPAGE + roomUsd * USD_TO_NOTIONAL
  const units = scaled('leverage', leverage, Leverage)
  return amountRange({ least: notional - off, most: notional + off }, units, collateral)
}

/** Returns a USD amount (1e18) in units of the token, at both ends of its price range. */
export function collateralRangeOfUsd(
  usd: bigint,
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  const notional = usd * USD_TO_NOTIONAL
  return amountRange({ least: notional, most: notional }, Leverage.one, collateral)
}

/** Returns notional (1e28) / leverage / the token's price: the least rounded down, the most rounded up. */
function amountRange(
  { least, most }: { readonly least: bigint; readonly most: bigint },
  leverage: bigint,
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  const price = scaled('collateralPriceUsd', collateral.priceUsd, CollateralPrice)
  const off = (price * scaled('priceTolerancePercent', collateral.priceTolerancePercent, Slippage)) / WHOLE_SLIPPAGE
  const delta = 10n ** BigInt(Usd.decimals - collateral.decimals)
  const dividend = Leverage.one * CollateralPrice.one
  const divisorAt = (priceUsd: bigint): bigint => leverage * priceUsd * delta * Price.one
  const cheapest = divisorAt(price - off)
  return {
    least: (least * dividend) / divisorAt(price + off),
    most: (most * dividend + cheapest - 1n) / cheapest,
  }
}

function shifted(price: bigint, impactP: PercentP): bigint {
  return price + (price * impactP) / HUNDRED_PERCENT
}

/** Returns the token at exactly the price that was read: the service reads it from the same chain. */
function exact(collateral: CollateralFacts): CollateralFacts {
  return { ...collateral, priceTolerancePercent: '0' }
}
