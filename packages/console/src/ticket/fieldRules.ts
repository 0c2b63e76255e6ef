import { decimalPlaces, Leverage, parseDecimal, Slippage, type Decimal, type MarketRecord } from '@bezel/protocol/wire'
import { decimal } from '@bezel/sdk'
import { formatAmount, formatPrice } from '../ground/format.ts'
import type { TicketDraft } from './draft.ts'
import { isReached, type EstimatedOrder } from './estimate.ts'
import { isAbove, type StopKind, type StopValue } from './stops.ts'

// The bounds of single fields. Each rule returns the sentence that stands beside its field, null when all is well. An
// empty field is not wrong: the button says what is still to be typed.

/** A text as a number, or the sentence that says why it is none. */
export type Typed =
  { readonly value: Decimal; readonly error: null } | { readonly value: null; readonly error: string | null }

/** Greatest price that the contracts hold. */
const MAX_PRICE = '1844674407.3709551615'

/** Decimals, least and greatest value of a slippage in percent. */
const SLIPPAGE = { decimals: Slippage.decimals, least: '0.001', most: '65.535' } as const

/** Reads a number above 0 with at most so many decimals. */
export function readAmount(text: string, maxDecimals: number, what: string): Typed {
  if (text === '') return { value: null, error: null }
  // The point of a number that is still being typed.
  const value = parseDecimal(text.replace(/\.$/, ''))
  if (value === undefined) return { value: null, error: `${what} is a number, such as 0.05.` }
  if (decimal.compare(value, '0') <= 0) return { value: null, error: `${what} must be above 0.` }
  if (decimalPlaces(value) <= maxDecimals) return { value, error: null }
  const error = `At most ${maxDecimals} ${maxDecimals === 1 ? 'decimal' : 'decimals'} here.`
  return { value: null, error: maxDecimals === 0 ? 'Whole numbers only here.' : error }
}

/** Reads the leverage within the bounds of the market. */
export function readLeverage(text: string, market: Pick<MarketRecord, 'minLeverage' | 'maxLeverage'>): Typed {
  const typed = readAmount(text, Leverage.decimals, 'Leverage')
  if (typed.value === null) return typed
  const { minLeverage, maxLeverage } = market
  const isWithin = decimal.compare(typed.value, minLeverage) >= 0 && decimal.compare(typed.value, maxLeverage) <= 0
  return isWithin ? typed : { value: null, error: `This market takes ${minLeverage} to ${maxLeverage}.` }
}

/** Reads the slippage in percent. */
export function readSlippage(text: string): Typed {
  const typed = readAmount(text, SLIPPAGE.decimals, 'Slippage')
  if (typed.value === null) return typed
  const isWithin = decimal.compare(typed.value, SLIPPAGE.least) >= 0 && decimal.compare(typed.value, SLIPPAGE.most) <= 0
  return isWithin ? typed : { value: null, error: `From ${SLIPPAGE.least} to ${SLIPPAGE.most} %.` }
}

/** Reads a price with the decimals of the market. */
export function readPrice(text: string, { pricePrecision }: Pick<MarketRecord, 'pricePrecision'>): Typed {
  const typed = readAmount(text, pricePrecision, 'The price')
  if (typed.value === null || decimal.compare(typed.value, MAX_PRICE) <= 0) return typed
  return { value: null, error: `At most ${MAX_PRICE}.` }
}

type Priced = Pick<TicketDraft, 'side' | 'type'>

/** Returns what is wrong with the trigger of an order at this mark. */
export function triggerError(
  { side, type }: Priced,
  price: string,
  { mark, slippage }: { readonly mark: string; readonly slippage: string },
): string | null {
  if (type !== 'stop') return null
  const passedBy = side === 'long' ? decimal.sub(mark, price) : decimal.sub(price, mark)
  const room = decimal.mul(decimal.mul(price, slippage), '0.01')
  if (decimal.compare(passedBy, room) <= 0) return null
  const where = side === 'long' ? 'above' : 'below'
  return `The market is at ${formatPrice(mark)} and has passed it. A stop that ${side === 'long' ? 'buys' : 'sells'} must be ${where} that.`
}

/** Returns the warning of an order that does not rest because the market has reached its price; null when it rests. */
export function restWarning(order: EstimatedOrder, mark: string): string | null {
  if (order.type === 'market' || order.price === null || !isReached(order, mark)) return null
  return `The market, at ${formatPrice(mark)}, has reached this price already: the order executes at once.`
}

/** Returns what is wrong with a stop: it must be beyond the price of the order, in the direction it executes in. */
export function stopError(
  kind: StopKind,
  stop: StopValue | null,
  {
    side,
    anchor,
    market,
  }: { readonly side: Priced['side']; readonly anchor: string; readonly market: Pick<MarketRecord, 'pricePrecision'> },
): string | null {
  if (stop === null) return null
  const { error } = readPrice(stop.price, market)
  if (stop.price === '0') return 'That is more than the whole collateral: choose a smaller loss.'
  if (error !== null) return error
  const above = isAbove(kind, side)
  const found = decimal.compare(stop.price, anchor)
  if (above ? found > 0 : found < 0) return null
  const name = kind === 'tp' ? 'take profit' : 'stop loss'
  return `The ${name} of a ${side} must be ${above ? 'above' : 'below'} ${formatPrice(anchor)}.`
}

/** Returns the warning of an order that takes more than the wallet has. */
export function balanceError(needed: string, balance: string | null, symbol: string): string | null {
  if (balance === null || decimal.compare(needed, balance) <= 0) return null
  return `Your wallet has ${formatAmount(balance, { symbol })}, and this order takes ${formatAmount(needed, { symbol })}.`
}
