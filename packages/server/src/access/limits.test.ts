import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ipBuckets, tighterAnswer, type LimitAnswer } from './limits.ts'

const answer = (remaining: number, limit: number, isAllowed = true): LimitAnswer => ({
  isAllowed,
  scope: 'ip',
  limit,
  remaining,
  resetSeconds: 1,
})

describe('tighterAnswer', () => {
  it('is the one with the fewest remaining, and the smaller limit in a tie', () => {
    for (const [tighter, looser] of [
      [answer(1, 600), answer(2, 60)],
      [answer(5, 60), answer(5, 300)],
      [answer(0, 600, false), answer(0, 60)],
    ] as const) {
      assert.equal(tighterAnswer(tighter, looser), tighter)
      assert.equal(tighterAnswer(looser, tighter), tighter)
    }
  })
})

describe('ipBuckets', () => {
  const keys = (network: string): unknown => ipBuckets(network, 10).map(({ key, limit }) => [key, limit])

  it('are one for an IPv4 address, and one for each level of an IPv6 network', () => {
    assert.deepEqual(keys('10.1.2.3'), [['10.1.2.3', 10]])
    assert.deepEqual(keys('unknown'), [['unknown', 10]])
    assert.deepEqual(keys('2001:db8:1:ab12::/64'), [
      ['2001:db8:1:ab12::/64', 10],
      ['2001:db8:1:ab00::/56', 20],
      ['2001:db8:1::/48', 40],
    ])
  })

  it('share a /56 exactly when the upper half of the fourth group is the same', () => {
    const block = (fourth: string): string => ipBuckets(`2001:db8:1:${fourth}::/64`, 1)[1]!.key
    assert.equal(block('0'), block('ff'))
    assert.equal(block('100'), block('1ff'))
    assert.notEqual(block('ff'), block('100'))
    assert.notEqual(block('1ff'), block('1f00'))
  })
})
