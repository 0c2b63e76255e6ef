import fc from 'fast-check'
import type { JsonValue } from '../../../json/parseStrictJson.ts'
import type { ExchangeAction } from '../envelope.ts'

/** Integers at which the encoded length changes, and the ends of the range that a double holds exactly. */
const EDGES = [7, 8, 15, 16, 31, 32, 33, 52, 53].flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])
const edge = fc
  .constantFrom(...EDGES, 0, 31, 32, 33, 127, 128, 129)
  .chain((value) => fc.constantFrom(value, -value))
  .filter(Number.isSafeInteger)
  .map((value) => value + 0)

export const anyInteger: fc.Arbitrary<number> = fc.oneof(edge, fc.maxSafeInteger(), fc.integer({ min: -40, max: 300 }))

/** Lengths around which the encoding of a string, a list or a map changes. */
const edgeLength = fc.constantFrom(15, 16, 17, 31, 32, 33, 255, 256, 257)

/** Strings of all Unicode that the parser accepts. */
const anyString = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.string({ unit: 'binary', maxLength: 8 }),
    edgeLength.map((length) => 'x'.repeat(length)),
  )
  .filter((text) => text.isWellFormed() && !text.includes('\0'))

const anyKey = anyString.filter((key) => key !== '__proto__' && !/^\d+$/.test(key))

const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: anyInteger },
    { weight: 6, arbitrary: anyString },
    { weight: 2, arbitrary: fc.boolean() },
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: edgeLength.map((length) => Array.from({ length }, (_, i) => i)) },
    {
      weight: 1,
      arbitrary: edgeLength.map((length) => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, i]))),
    },
    { weight: 4, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    { weight: 4, arbitrary: members(tie('value')) },
  ),
}))

/** Generates objects with keys in any order. */
function members(value: fc.Arbitrary<JsonValue>): fc.Arbitrary<{ [key: string]: JsonValue }> {
  return fc
    .uniqueArray(fc.tuple(anyKey, value), { selector: ([key]) => key, maxLength: 4 })
    .map((entries) => Object.fromEntries(entries))
}

/** Actions that no client would send, with `type` anywhere among the keys. */
export const anyAction: fc.Arbitrary<ExchangeAction> = fc
  .tuple(members(anyValue), anyString, members(anyValue))
  .map(([before, type, after]) => ({ ...before, type, ...without(after, before) }))

function without(object: { [key: string]: JsonValue }, others: object): { [key: string]: JsonValue } {
  const left = Object.entries(object).filter(([key]) => key !== 'type' && !Object.hasOwn(others, key))
  return Object.fromEntries(left)
}
