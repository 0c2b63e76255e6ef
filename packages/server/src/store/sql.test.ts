import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromExactJson, toExactJson } from './sql.ts'

/** Values as the service stores them: text never looks like a whole number with an n appended. */
const leaf = fc.oneof(
  fc.bigInt(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('long', 'n', '12', '0xabn', '-n', ''),
)
const key = fc.constantFrom('a', 'b', 'price', 'n')
const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(key, tie('node'), { noNullPrototype: true }),
  ),
})).node

describe('exact JSON', () => {
  it('gives back what was written, whole numbers of any size included', () => {
    fc.assert(fc.property(value, (written) => assert.deepStrictEqual(fromExactJson(toExactJson(written)), written)))
  })
})
