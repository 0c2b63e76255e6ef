import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBackOff } from './backOff.ts'

describe('the wait before the next attempt', () => {
  it('doubles up to its bound', () => {
    const backOff = createBackOff({ minMs: 1_000, maxMs: 30_000, random: () => 0 })
    const waits = Array.from({ length: 8 }, () => backOff.nextMs())
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    assert.equal(backOff.attempts, 8)
  })

  it('is spread over the upper half', () => {
    const backOff = createBackOff({ minMs: 1_000, maxMs: 30_000, random: () => 0.999_999 })
    assert.deepEqual([backOff.nextMs(), backOff.nextMs()], [500, 1_000])
  })

  it('begins anew after a success', () => {
    const backOff = createBackOff({ minMs: 10, maxMs: 1_000, random: () => 0 })
    backOff.nextMs()
    backOff.nextMs()
    backOff.reset()
    assert.deepEqual([backOff.nextMs(), backOff.attempts], [10, 1])
  })

  it('stays at its bound however many attempts fail', () => {
    const backOff = createBackOff({ minMs: 1_000, maxMs: 30_000, random: () => 0 })
    for (let attempt = 0; attempt < 5_000; attempt += 1) backOff.nextMs()
    assert.equal(backOff.nextMs(), 30_000)
  })
})
