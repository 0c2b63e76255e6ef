import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { ExchangeAction } from './envelope.ts'

/** Keys in their canonical order, with what each holds. A list is as its items are. */
interface Shape {
  readonly [key: string]: Shape | 'decimal' | 'asIs'
}

const ORDER: Shape = {
  a: 'asIs',
  b: 'asIs',
  p: 'decimal',
  s: 'decimal',
  r: 'asIs',
  t: { limit: { tif: 'asIs' }, trigger: { isMarket: 'asIs', triggerPx: 'decimal', tpsl: 'asIs' } },
  c: 'asIs',
}

/** Of the actions that trade. */
const SHAPES: Readonly<Record<string, Shape>> = {
  order: { type: 'asIs', orders: ORDER, grouping: 'asIs', builder: { b: 'asIs', f: 'asIs' } },
  cancel: { type: 'asIs', cancels: { a: 'asIs', o: 'asIs' }, f: 'asIs' },
  cancelByCloid: { type: 'asIs', cancels: { asset: 'asIs', cloid: 'asIs' }, f: 'asIs' },
  modify: { type: 'asIs', oid: 'asIs', order: ORDER, a: 'asIs' },
  batchModify: { type: 'asIs', modifies: { oid: 'asIs', order: ORDER }, a: 'asIs' },
  updateLeverage: { type: 'asIs', asset: 'asIs', isCross: 'asIs', leverage: 'asIs' },
  updateIsolatedMargin: { type: 'asIs', asset: 'asIs', isBuy: 'asIs', ntli: 'asIs' },
  scheduleCancel: { type: 'asIs', time: 'asIs' },
}

const TRAILING_ZEROS = /^(-?\d+)(?:\.0*|(\.\d*?[1-9])0+)$/

/**
 * The same action as the exchange itself would write it: keys in its order, prices and sizes without trailing zeros. It means the same, and nothing
 * is left out: a key that does not belong there stays, and spoils the signature. `undefined` for actions without such a form.
 */
export function canonicalAction(action: ExchangeAction): ExchangeAction | undefined {
  const shape = Object.hasOwn(SHAPES, action.type) ? SHAPES[action.type] : undefined
  return shape === undefined ? undefined : (canonical(action, shape) as ExchangeAction)
}

function canonical(value: JsonValue, shape: Shape[string] | undefined): JsonValue {
  if (shape === 'decimal') return typeof value === 'string' ? value.replace(TRAILING_ZEROS, '$1$2') : value
  if (shape === undefined || shape === 'asIs' || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => canonical(item, shape))
  const known = Object.keys(shape).filter((key) => Object.hasOwn(value, key))
  const others = Object.keys(value).filter((key) => !Object.hasOwn(shape, key))
  return Object.fromEntries([...known, ...others].map((key) => [key, canonical(value[key]!, shape[key])]))
}
