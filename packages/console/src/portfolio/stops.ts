import { parseDecimal } from '@bezel/protocol/wire'
import { decimal, roundPrice, type MarketRecord, type Position, type UpdatePositionRequest } from '@bezel/sdk'
import { formatPrice } from '../ground/format.ts'

/** The stops of a position as they are typed: a price, or nothing for none. */
export interface TypedStops {
  readonly tp: string
  readonly sl: string
}

/** A change of stops: the request for it, or what is wrong with a field. Without either nothing has changed. */
export interface StopsChange {
  readonly request: UpdatePositionRequest | null
  readonly problems: { readonly tp: string | null; readonly sl: string | null }
}

type PriceRules = Pick<MarketRecord, 'pricePrecision'>
type Stopped = Pick<Position, 'side' | 'sl' | 'tp' | 'liquidationPrice'>

/** Returns the stops of a position as text to type over: nothing where there is none. */
export function typedStops({ tp, sl }: Pick<Position, 'sl' | 'tp'>): TypedStops {
  return { tp: tp === '0' ? '' : tp, sl: sl === '0' ? '' : sl }
}

/**
 * Compares typed stops with those of a position and returns the change. A field that was emptied clears its stop. A
 * stop on the wrong side of the mark would end the position at once, so it is refused here with a sentence.
 */
export function changeOfStops(position: Stopped, typed: TypedStops, mark: string, market: PriceRules): StopsChange {
  const [tp, sl] = (['tp', 'sl'] as const).map((kind) => readStop(kind, position, typed[kind].trim(), mark, market))
  const problems = { tp: tp?.problem ?? null, sl: sl?.problem ?? null }
  if (problems.tp !== null || problems.sl !== null) return { request: null, problems }
  const request: UpdatePositionRequest = {
    ...(tp?.price === null || tp === undefined ? {} : { tp: tp.price }),
    ...(sl?.price === null || sl === undefined ? {} : { sl: sl.price }),
  }
  return { request: Object.keys(request).length === 0 ? null : request, problems }
}

interface ReadStop {
  /** New price, "0" to clear it; null when it stays. */
  readonly price: string | null
  readonly problem: string | null
}

function readStop(kind: 'tp' | 'sl', position: Stopped, text: string, mark: string, market: PriceRules): ReadStop {
  if (text === '') return { price: position[kind] === '0' ? null : '0', problem: null }
  const typed = parseDecimal(text)
  if (typed === undefined || decimal.compare(typed, '0') <= 0) {
    return { price: null, problem: 'Enter a price above 0, or leave the field empty for none.' }
  }
  if (typed === position[kind]) return { price: null, problem: null }
  const price = roundPrice(market, typed)
  return { price, problem: sideProblem(kind, position, price, mark) }
}

function sideProblem(kind: 'tp' | 'sl', position: Stopped, price: string, mark: string): string | null {
  const isAbove = (kind === 'tp') === (position.side === 'long')
  const place = decimal.compare(price, mark)
  if (place !== (isAbove ? 1 : -1)) {
    const name = kind === 'tp' ? 'take profit' : 'stop loss'
    return `The ${name} of a ${position.side} is ${isAbove ? 'above' : 'below'} the mark, ${formatPrice(mark)}. Enter another price.`
  }
  if (kind === 'sl' && decimal.compare(price, position.liquidationPrice) !== (isAbove ? -1 : 1)) {
    return `The position is liquidated at ${formatPrice(position.liquidationPrice)} before that price. Enter one nearer to the mark.`
  }
  return null
}
