import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judgeBatchSize, judgeLogRange, judgeRate } from './providerLimits.ts'

const refusedAt = (size: number) => ({ size, words: 'too large' })

describe('judgeBatchSize', () => {
  it('warns below ten calls, and fails without any', () => {
    assert.equal(judgeBatchSize({ accepted: 100, refused: undefined }).mark, 'ok')
    assert.equal(judgeBatchSize({ accepted: 10, refused: refusedAt(50) }).mark, 'ok')
    const { mark, text } = judgeBatchSize({ accepted: 1, refused: refusedAt(10) })
    assert.deepEqual([mark, text.includes('of 10 calls not (too large)')], ['warning', true])
    assert.equal(judgeBatchSize({ accepted: 0, refused: refusedAt(1) }).mark, 'failure')
  })
})

describe('judgeLogRange', () => {
  it('tells what the range means for catching up', () => {
    const { mark, text } = judgeLogRange({ accepted: 2_000, refused: refusedAt(10_000) }, 'arbitrum', 1e6)
    assert.deepEqual([mark, text.endsWith('an hour of absence is caught up with 8 calls.')], ['ok', true])
    assert.match(judgeLogRange({ accepted: 10, refused: refusedAt(100) }, 'base', 1e6).text, /with 180 calls, so take/)
  })

  it('warns below a hundred blocks, fails below ten, and says when the chain is too young to know', () => {
    assert.equal(judgeLogRange({ accepted: 10, refused: refusedAt(100) }, 'base', 1e6).mark, 'warning')
    assert.equal(judgeLogRange({ accepted: 0, refused: refusedAt(10) }, 'base', 1e6).mark, 'failure')
    assert.match(judgeLogRange({ accepted: 10_000, refused: undefined }, 'base', 99).text, /has only 100 blocks/)
  })
})

describe('judgeRate', () => {
  const burst = { calls: 50, refusals: [], failed: 0, elapsedMs: 300 }

  it('says what was seen and no more', () => {
    assert.equal(judgeRate(burst).text, '50 calls of eth_getBlockByNumber in 300 ms: none was refused.')
    assert.match(
      judgeRate({ ...burst, refusals: ['HTTP 429', 'HTTP 429'] }).text,
      /^Of 50 .* 2 were refused .*HTTP 429/,
    )
    assert.match(judgeRate({ ...burst, failed: 3 }).text, /^Of 50 .* 3 had no answer/)
    assert.deepEqual(
      [judgeRate(burst).mark, judgeRate({ ...burst, failed: 1 }).mark, judgeRate({ ...burst, refusals: ['x'] }).mark],
      ['ok', 'warning', 'warning'],
    )
  })
})
