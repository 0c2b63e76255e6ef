import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress, type Hex } from '@bezel/protocol'
import { keccak256 } from 'viem'
import { bloomTestOf } from './readBlocks.ts'

/**
 * Computes a bloom filter as the Yellow Paper defines it: big-endian, three 11-bit numbers from the first six bytes of
 * the hash.
 */
function bloomOf(...entries: readonly Hex[]): Hex {
  let bits = 0n
  for (const entry of entries) {
    const hash = keccak256(entry)
    for (const at of [2, 6, 10]) bits |= 1n << (BigInt(`0x${hash.slice(at, at + 4)}`) % 2048n)
  }
  return `0x${bits.toString(16).padStart(512, '0')}` as Hex
}

describe('the bloom filter of a block', () => {
  const address = parseAddress('0xd659a15812064C79E189fd950A189b15c75d3186')!
  const isIn = bloomTestOf(address)

  it('says yes when the address has logs', () => {
    assert.equal(isIn(bloomOf(address.toLowerCase() as Hex)), true)
    assert.equal(isIn(bloomOf(`0x${'12'.repeat(20)}` as Hex, address.toLowerCase() as Hex)), true)
    assert.equal(isIn(`0x${'ff'.repeat(256)}` as Hex), true)
  })

  it('says no when it has none', () => {
    assert.equal(isIn(bloomOf()), false)
    assert.equal(isIn(bloomOf(`0x${'12'.repeat(20)}` as Hex)), false)
  })
})
