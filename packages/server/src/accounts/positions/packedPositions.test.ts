import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, OrderId } from '@bezel/protocol'
import fc from 'fast-check'
import { toExactJson } from '../../store/sql.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'
import { createPositionPacker, PACKED_SEPARATOR } from './packedPositions.ts'

const TRADER = `0x${'ab'.repeat(20)}` as Address

/** Values that states are made of, and some that they are not. */
const leaf = fc.oneof(fc.bigInt(), fc.integer(), fc.boolean(), fc.string(), fc.constant(null), fc.array(fc.integer()))
const name = fc.stringMatching(/^[a-z][a-zA-Z]{0,8}$/)
const fields = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ weight: 4, arbitrary: leaf }, tie('object')),
  object: fc.dictionary(name, tie('value'), { maxKeys: 6, noNullPrototype: true }),
})).object

describe('a packed position', () => {
  it('is the same when it is unpacked, whatever its state is made of', () => {
    const packer = createPositionPacker()
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1, maxLength: 4 }), (states) => {
        const positions = states.map((state, at) => ({
          record: { id: `${at}` as OrderId, chain: 'base' as const, trader: TRADER, originOrderId: '7' as OrderId },
          state: state as unknown as PositionState,
        }))
        const packed = positions.map((position) => packer.pack(position)).join(PACKED_SEPARATOR)
        assert.deepEqual(packer.unpack('base', TRADER, packed), positions)
      }),
    )
  })

  it('has no names of fields, also when it comes from the store', () => {
    const packer = createPositionPacker()
    const state = { isOpen: true, trade: { leverage: 10_000, openPrice: 5n }, pendingUpdate: null }
    const packed = packer.packStored('1' as OrderId, '2' as OrderId, toExactJson(state))
    assert.equal(packed, ['1', '2', 1, 'true', 10_000, '"5n"', 'null'].join('\u0001'))
    assert.deepEqual(packer.unpack('base', TRADER, packed)[0]?.state, state)
  })

  it('has no names of fields in states of some kinds, in whatever order they come', () => {
    const packer = createPositionPacker()
    const updates = [null, { kind: 'size', leverage: 20_000 }, null, { kind: 'both', sl: 4n, tp: 9n }]
    for (const pendingUpdate of [...updates, ...updates]) {
      const state = { isOpen: true, trade: { note: 'a "b":{c}\n' }, pendingUpdate }
      const packed = packer.packStored('1' as OrderId, '2' as OrderId, toExactJson(state))
      assert.ok(!packed.includes('pendingUpdate') && !packed.includes('leverage') && !packed.includes('sl'), packed)
      assert.deepEqual(packer.unpack('base', TRADER, packed)[0]?.state, state)
    }
  })
})
