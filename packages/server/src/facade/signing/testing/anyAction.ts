import fc from 'fast-check'
import type { JsonValue } from '../../../http/json/parseStrictJson.ts'
import type { ExchangeAction } from '../envelope.ts'

/** Where the length of an integer changes, and the ends of what a double holds exactly. */
const EDGES = [7, 8, 15, 16, 31, 32, 33, 52, 53].flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])
const edge = fc
  .constantFrom(...EDGES, 0, 31, 32, 33, 127, 128, 129)
  .chain((value) => fc.constantFrom(value, -value))
  .filter(Number.isSafeInteger)
  .map((value) => value + 0)

export const anyInteger: fc.Arbitrary<number> = fc.oneof(edge, fc.maxSafeInteger(), fc.integer({ min: -40, max: 300 }))

/** All of Unicode that the parser lets through. */
const anyString = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ minLength: 28, maxLength: 36 }),
    fc.string({ minLength: 250, maxLength: 260 }),
  )
  .filter((text) => text.isWellFormed() && !text.includes('\0'))

const anyKey = anyString.filter((key) => key !== '__proto__' && !/^\d+$/.test(key))

const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyInteger,
    anyString,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 18 }),
    members(tie('value')),
  ),
}))

/** Objects of any order of keys, some with more than fit into the short form. */
function members(value: fc.Arbitrary<JsonValue>): fc.Arbitrary<{ [key: string]: JsonValue }> {
  return fc
    .uniqueArray(fc.tuple(anyKey, value), { selector: ([key]) => key, maxLength: 18 })
    .map((entries) => Object.fromEntries(entries))
}

/** An action no client would think of: its type stands anywhere among its keys. */
export const anyAction: fc.Arbitrary<ExchangeAction> = fc
  .tuple(members(anyValue), anyString, members(anyValue))
  .map(([before, type, after]) => ({ ...before, type, ...without(after, before) }))

function without(object: { [key: string]: JsonValue }, others: object): { [key: string]: JsonValue } {
  const left = Object.entries(object).filter(([key]) => key !== 'type' && !Object.hasOwn(others, key))
  return Object.fromEntries(left)
}
