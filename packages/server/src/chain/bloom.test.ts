import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress, type Hex } from '@bezel/protocol'
import { bloomTestOf } from './bloom.ts'
import { bloomOf } from './testing/bloomOf.ts'

describe('the bloom filter of a block', () => {
  const address = parseAddress('0xd659a15812064C79E189fd950A189b15c75d3186')!
  const isIn = bloomTestOf(address)

  it('says yes when the address has logs', () => {
    assert.equal(isIn(bloomOf(address)), true)
    assert.equal(isIn(bloomOf(`0x${'12'.repeat(20)}` as Hex, address)), true)
    assert.equal(isIn(`0x${'ff'.repeat(256)}` as Hex), true)
  })

  it('says yes when the filter is none', () => {
    assert.equal(isIn('0x' as Hex), true)
  })

  it('says no when it has none', () => {
    assert.equal(isIn(bloomOf()), false)
    assert.equal(isIn(bloomOf(`0x${'12'.repeat(20)}` as Hex)), false)
  })
})
