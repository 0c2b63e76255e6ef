import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import fc from 'fast-check'
import {
  decodeAbiParameters,
  decodeFunctionResult,
  encodeAbiParameters,
  type Abi,
  type AbiFunction,
  type AbiParameter,
} from 'viem'
import { outputsReader } from './abiReader.ts'
import { arbitraryOf } from './testing/arbitraryValue.ts'

const VIEWS = diamondAbi.filter(
  (item): item is typeof item & AbiFunction => item.type === 'function' && item.stateMutability === 'view',
)

/** Returns the values and their digits. */
function encoded(outputs: readonly AbiParameter[]): fc.Arbitrary<{ digits: string; values: unknown[] }> {
  return fc
    .tuple(...outputs.map(arbitraryOf))
    .map((values) => ({ values, digits: encodeAbiParameters(outputs, values).slice(2) }))
}

describe('the reader of what views return', () => {
  it('has one view for each name', () => {
    assert.equal(new Set(VIEWS.map(({ name }) => name)).size, VIEWS.length)
  })

  for (const view of VIEWS) {
    it(`${view.name}: reads what viem reads`, () => {
      const reader = outputsReader(view.outputs)
      fc.assert(
        fc.property(encoded(view.outputs), ({ digits, values }) => {
          const read = reader.read(digits, 0)
          assert.deepEqual(read, values.length === 1 ? values[0] : values)
          const abi: Abi = [view]
          assert.deepEqual(read, decodeFunctionResult({ abi, functionName: view.name, data: `0x${digits}` }))
        }),
        { numRuns: 10 },
      )
    })
  }

  it('reads lists in lists, of fixed and of any length, and structs without a fixed layout', () => {
    const components = [
      { name: 'name', type: 'string' },
      { name: 'sizes', type: 'uint64[]' },
    ]
    for (const type of ['tuple', 'tuple[]', 'tuple[2]', 'tuple[][2]', 'tuple[2][]']) {
      const outputs: readonly AbiParameter[] = [
        { name: 'a', type, components },
        { name: 'b', type: 'int56[3]' },
        { name: 'c', type: 'uint8[][]' },
      ]
      fc.assert(
        fc.property(encoded(outputs), ({ digits }) => {
          assert.deepEqual(outputsReader(outputs).read(digits, 0), decodeAbiParameters(outputs, `0x${digits}`))
        }),
        { numRuns: 30 },
      )
    }
  })

  it('refuses what ends too early, whatever its lengths and offsets say', () => {
    const { outputs } = VIEWS.find(({ name }) => name === 'getAllBorrowingPairs')!
    const reader = outputsReader(outputs)
    fc.assert(
      fc.property(encoded(outputs), fc.nat(), ({ digits }, cut) => {
        assert.throws(() => reader.read(digits.slice(0, cut % digits.length), 0), RangeError)
      }),
    )
    for (const length of ['f'.repeat(64), '40'.padStart(64, '0')]) {
      assert.throws(() => reader.read('60'.padStart(64, '0').repeat(3) + length, 0), RangeError)
    }
  })

  it('refuses values that do not fit their type', () => {
    const wrong: [string, string][] = [
      ['uint8', '100'],
      ['int8', '80'],
      ['bool', '2'],
      ['address', '1'.repeat(41)],
    ]
    for (const [type, digits] of wrong) {
      const reader = outputsReader([{ name: 'value', type }])
      assert.throws(() => reader.read(digits.padStart(64, '0'), 0), RangeError)
    }
  })
})
