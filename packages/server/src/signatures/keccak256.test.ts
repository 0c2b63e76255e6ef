import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { keccak256 as viemKeccak256 } from 'viem'
import { keccak256 } from './keccak256.ts'

function agrees(bytes: Uint8Array): void {
  assert.deepEqual(new Uint8Array(keccak256(bytes)), viemKeccak256(bytes, 'bytes'))
}

describe('keccak256', () => {
  it('equals the reference for random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), agrees), { numRuns: 1_000 })
  })

  it('equals the reference around its block of 136 bytes and the 16 KiB it is fed with at a time', () => {
    for (const around of [0, 136, 272, 16_384, 32_768, 1_000_000]) {
      for (const length of [around - 1, around, around + 1].filter((bytes) => bytes >= 0)) {
        agrees(new Uint8Array(length).fill(length % 251))
      }
    }
  })

  it('hashes the bytes of a view, not those around it, and leaves them as they are', () => {
    const whole = Buffer.from('before|the body|after')
    const view = whole.subarray(7, 15)
    assert.deepEqual(keccak256(view), keccak256(new TextEncoder().encode('the body')))
    assert.equal(whole.toString(), 'before|the body|after')
  })

  it('hands out bytes of its own each time', () => {
    const first = keccak256(Uint8Array.of(1))
    const copy = first.slice()
    keccak256(Uint8Array.of(2))
    assert.deepEqual(first, copy)
    keccak256(Uint8Array.of(1)).fill(0)
    agrees(Uint8Array.of(1))
  })

  it('is not disturbed by a hash that failed', () => {
    assert.throws(() => keccak256(undefined as unknown as Uint8Array))
    agrees(Uint8Array.of(3))
  })
})
