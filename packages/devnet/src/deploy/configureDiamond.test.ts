import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { packBands } from './configureDiamond.ts'

describe('packBands', () => {
  it('puts the depth below 14 bands in the first word and 16 bands in the second', () => {
    const bands = Array.from({ length: 30 }, (_, i) => i + 1)
    const { slot1, slot2 } = packBands(bands, 0xdeadbeef)
    assert.equal(slot1 & 0xffff_ffffn, 0xdeadbeefn)
    const word = (slot: bigint, from: number) => Number((slot >> BigInt(from)) & 0xffffn)
    const unpacked = bands.map((_, i) => (i < 14 ? word(slot1, 32 + 16 * i) : word(slot2, 16 * (i - 14))))
    assert.deepEqual(unpacked, bands)
    assert.ok(slot1 < 2n ** 256n && slot2 < 2n ** 256n)
  })
})
