import { parseDecimal } from '@bezel/protocol/wire'
import { decimal, roundPrice, roundSize, type MarketRecord, type Order, type UpdateOrderRequest } from '@bezel/sdk'

/** The terms of a resting order as they are typed. Empty stops are none. */
export interface TypedTerms {
  readonly price: string
  readonly size: string
  readonly tp: string
  readonly sl: string
}

/** A change of a resting order, or what is wrong with its fields. Without either nothing has changed. */
export interface OrderChange {
  readonly request: UpdateOrderRequest | null
  readonly problems: Readonly<Partial<Record<keyof TypedTerms, string>>>
}

type Terms = Pick<Order, 'price' | 'size' | 'tp' | 'sl' | 'side'>
type Rules = Pick<MarketRecord, 'pricePrecision' | 'sizePrecision' | 'base'>

/** Returns the terms of an order as text to type over. */
export function typedTerms({ price, size, tp, sl }: Terms): TypedTerms {
  return { price: price ?? '', size, tp: tp ?? '', sl: sl ?? '' }
}

/** Compares typed terms with those of a resting order and returns the change. A stop that was emptied is cleared. */
export function changeOfOrder(order: Terms, typed: TypedTerms, market: Rules): OrderChange {
  const price = parseDecimal(typed.price)
  const size = parseDecimal(typed.size)
  const problems: Partial<Record<keyof TypedTerms, string>> = {}
  if (price === undefined || decimal.compare(price, '0') <= 0) problems.price = 'Enter the price that triggers it.'
  if (size === undefined || decimal.compare(size, '0') <= 0) problems.size = `Enter how much ${market.base} to trade.`
  else if (size !== order.size && roundSize(market, size) !== size) {
    problems.size = `${market.base} is traded with at most ${market.sizePrecision} decimals. Enter fewer digits.`
  }
  const stops = { tp: stopOf(order.tp, typed.tp, market), sl: stopOf(order.sl, typed.sl, market) }
  for (const kind of ['tp', 'sl'] as const) {
    const problem = stopProblem(kind, order, stops[kind] ?? order[kind] ?? '0', price ?? '0')
    if (problem !== null) problems[kind] = problem
  }
  if (price === undefined || size === undefined || Object.keys(problems).length > 0) return { request: null, problems }
  const request: UpdateOrderRequest = {
    ...(price === order.price ? {} : { price: roundPrice(market, price) }),
    ...(size === order.size ? {} : { size }),
    ...(stops.tp === null ? {} : { tp: stops.tp }),
    ...(stops.sl === null ? {} : { sl: stops.sl }),
  }
  return { request: Object.keys(request).length === 0 ? null : request, problems }
}

/** Returns the new price of a stop, "0" to clear it, null when it stays. Unreadable text is told by `stopProblem`. */
function stopOf(now: string | null, typed: string, market: Rules): string | null {
  if (typed.trim() === '') return now === null ? null : '0'
  const value = parseDecimal(typed)
  if (value === undefined) return UNREADABLE
  return value === now ? null : roundPrice(market, value)
}

const UNREADABLE = '-1'

function stopProblem(kind: 'tp' | 'sl', { side }: Terms, stop: string, price: string): string | null {
  if (stop === '0') return null
  if (stop === UNREADABLE) return 'Enter a price above 0, or leave the field empty for none.'
  const isAbove = (kind === 'tp') === (side === 'long')
  if (decimal.compare(stop, price) === (isAbove ? 1 : -1)) return null
  const name = kind === 'tp' ? 'take profit' : 'stop loss'
  return `The ${name} of a ${side} is ${isAbove ? 'above' : 'below'} the order's price. Enter another price.`
}
