import type { LimitScope } from '../settings/config.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createInProcessLimits } from './inProcessLimits.ts'
import { ipBuckets, type LimitBucket } from './limits.ts'

const MINUTE = 60_000

/** A multiple of a minute, so that a window starts here. */
const START = 1_700_000_040_000

const bucket = (scope: LimitScope, key: string, limit: number): LimitBucket => ({ scope, key, limit })

const ip = (key: string, limit = 3): LimitBucket => bucket('ip', key, limit)

describe('limits in one process', () => {
  it('allows the limit, then refuses until the minute turns', () => {
    const limits = createInProcessLimits()
    for (const remaining of [2, 1, 0]) {
      assert.deepEqual(limits.take([ip('a')], START + 1_500), {
        isAllowed: true,
        scope: 'ip',
        limit: 3,
        remaining,
        resetSeconds: 59,
      })
    }
    const refused = { isAllowed: false, scope: 'ip', limit: 3, remaining: 0 }
    assert.deepEqual(limits.take([ip('a')], START + 1_500), { ...refused, resetSeconds: 59 })
    assert.deepEqual(limits.take([ip('a')], START + MINUTE - 1), { ...refused, resetSeconds: 1 })
    assert.equal(limits.take([ip('b')], START + MINUTE - 1).isAllowed, true)
    assert.deepEqual(limits.take([ip('a')], START + MINUTE), {
      ...refused,
      isAllowed: true,
      remaining: 2,
      resetSeconds: 60,
    })
  })

  it('starts its windows with the minutes of the clock', () => {
    const limits = createInProcessLimits()
    assert.equal(limits.take([ip('a')], START + 59_000).remaining, 2)
    assert.equal(limits.take([ip('a')], START + 61_000).remaining, 2)
    assert.equal(limits.take([ip('a')], START + 119_999).remaining, 1)
  })

  it('tells the tightest bucket: fewest remaining, then the smaller limit', () => {
    const limits = createInProcessLimits()
    const buckets = [ip('a', 5), bucket('agent', 'x', 4), bucket('agent-writes', 'x', 2)]
    assert.equal(limits.take(buckets, START).scope, 'agent-writes')
    limits.take([ip('a', 5)], START)
    limits.take([ip('a', 5)], START)
    const tied = limits.take([ip('a', 5), bucket('agent', 'x', 4)], START)
    assert.deepEqual([tied.scope, tied.remaining], ['ip', 1])
    const equal = limits.take([ip('b', 5), bucket('agent', 'y', 5), bucket('agent-writes', 'y', 5)], START)
    assert.deepEqual([equal.remaining, equal.limit], [4, 5])
    limits.take([bucket('agent', 'z', 5)], START)
    assert.equal(limits.take([ip('c', 4), bucket('agent', 'z', 5)], START).scope, 'ip')
  })

  it('charges a refused request to no bucket', () => {
    const limits = createInProcessLimits()
    const agent = bucket('agent', 'x', 10)
    const write = [agent, bucket('agent-writes', 'x', 1)]
    assert.equal(limits.take(write, START).isAllowed, true)
    for (let i = 0; i < 50; i++) {
      const refused = limits.take(write, START)
      assert.deepEqual([refused.isAllowed, refused.scope, refused.remaining], [false, 'agent-writes', 0])
    }
    assert.equal(limits.take([agent], START).remaining, 8)
  })

  it('keeps scopes apart', () => {
    const limits = createInProcessLimits()
    limits.take([bucket('agent', 'x', 2)], START)
    assert.equal(limits.take([bucket('agent-writes', 'x', 2)], START).remaining, 1)
  })

  it('counts a request that brings an older time along in the current window', () => {
    const limits = createInProcessLimits()
    for (let i = 0; i < 3; i++) limits.take([ip('a')], START)
    const late = limits.take([ip('a')], START - 1)
    assert.deepEqual([late.isAllowed, late.resetSeconds], [false, 60])
    assert.equal(limits.take([ip('a')], START + 1).isAllowed, false)
  })

  it('starts over when the clock is set back, instead of refusing until it has caught up', () => {
    const limits = createInProcessLimits()
    for (let i = 0; i < 3; i++) limits.take([ip('a')], START + 60 * MINUTE)
    assert.equal(limits.take([ip('a')], START).isAllowed, true)
  })

  it('lets clients beyond the maximum share a counter with their neighbours until the minute turns', () => {
    const crowded: string[] = []
    const limits = createInProcessLimits({ maxKeys: 2, crowdLimit: 4, onCrowded: (scope) => crowded.push(scope) })
    for (const key of ['10.0.0.1', '10.0.0.2']) assert.equal(limits.take([ip(key)], START).remaining, 2)
    assert.deepEqual(crowded, [])
    assert.deepEqual(
      ['10.1.0.1', '10.1.0.2', '10.1.3.4', '10.1.5.6'].map((key) => limits.take([ip(key)], START).remaining),
      [3, 2, 1, 0],
    )
    assert.equal(limits.take([ip('10.1.7.8')], START).isAllowed, false)
    assert.equal(limits.take([ip('10.2.7.8')], START).isAllowed, true, 'of another network')
    assert.equal(limits.take([ip('10.0.0.1')], START).remaining, 1)
    assert.equal(limits.take([bucket('agent', 'x', 9)], START).remaining, 8)
    assert.deepEqual(crowded, ['ip'])
    assert.equal(limits.take([ip('10.1.7.8')], START + MINUTE).remaining, 2)
  })

  it('keeps no more counters than the maximum, whoever comes', () => {
    const limits = createInProcessLimits({ maxKeys: 1_000, crowdLimit: 100 })
    let allowed = 0
    for (let i = 0; i < 50_000; i++) if (limits.take([ip(`10.9.${i >> 8}.${i & 255}`)], START).isAllowed) allowed++
    assert.equal(allowed, 1_100)
  })

  it('charges the weight of a request, and refuses one that weighs more than is left', () => {
    const limits = createInProcessLimits()
    assert.equal(limits.take([ip('a', 10)], START, 7).remaining, 3)
    const refused = limits.take([ip('a', 10), bucket('agent', 'x', 10)], START, 4)
    assert.deepEqual([refused.isAllowed, refused.scope, refused.remaining], [false, 'ip', 3])
    assert.equal(limits.take([ip('a', 10), bucket('agent', 'x', 10)], START, 3).remaining, 0)
    assert.equal(limits.take([bucket('agent', 'x', 10)], START).remaining, 6)
  })

  it('gives an IPv6 /56 twice and a /48 four times the limit of its /64, whichever of their addresses ask', () => {
    const used = (networkAt: (i: number) => string): number => {
      const limits = createInProcessLimits()
      const asked = Array.from({ length: 5_000 }, (_, i) => limits.take(ipBuckets(networkAt(i), 600), START))
      return asked.filter(({ isAllowed }) => isAllowed).length
    }
    assert.equal(
      used(() => '2001:db8:1:2::/64'),
      600,
    )
    assert.equal(
      used((i) => `2001:db8:1:${(0xab00 + (i % 256)).toString(16)}::/64`),
      1_200,
    )
    assert.equal(
      used((i) => `2001:db8:1:${(i % 0x10000).toString(16)}::/64`),
      2_400,
    )
    assert.equal(
      used(() => '10.0.0.1'),
      600,
    )
  })

  it('serves newcomers of both families beside 100,000 hostile keys of each', () => {
    const limits = createInProcessLimits()
    const allowed = (network: string): boolean => limits.take(ipBuckets(network, 600), START).isAllowed
    for (let round = 0; round < 2; round += 1) {
      for (let i = 0; i < 100_000; i += 1) {
        allowed(`2001:db8:${(i >> 11).toString(16)}:${(i & 0x7ff).toString(16)}::/64`)
        allowed(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
      }
    }
    for (let i = 0; i < 20_000; i += 1) {
      allowed(`2001:db8:${(0x1000 + i).toString(16)}:0::/64`)
      allowed(`10.${i & 3}.${200 + (i & 31)}.${(i >> 5) & 255}`)
    }
    for (let i = 0; i < 500; i += 1) {
      assert.equal(allowed(`2a0${i % 10}:${(i + 4_096).toString(16)}:1:2::/64`), true, `newcomer ${i} of IPv6`)
      assert.equal(allowed(`${20 + (i % 200)}.${i >> 1}.3.4`), true, `newcomer ${i} of IPv4`)
    }
  })

  it('never allows more than the limit in any minute, and never refuses below it', () => {
    const step = fc.record({
      afterMs: fc.nat({ max: 20_000 }),
      key: fc.constantFrom('a', 'b'),
      isWrite: fc.boolean(),
      weight: fc.integer({ min: 1, max: 3 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const limits = createInProcessLimits()
        const counted = new Map<string, number>()
        let nowMs = START
        for (const { afterMs, key, isWrite, weight } of steps) {
          nowMs += afterMs
          const buckets = [bucket('agent', key, 4), ...(isWrite ? [bucket('agent-writes', key, 2)] : [])]
          const names = buckets.map(({ scope }) => `${Math.floor(nowMs / MINUTE)} ${scope} ${key}`)
          const isAllowed = names.every((name, i) => (counted.get(name) ?? 0) + weight <= buckets[i]!.limit)
          if (isAllowed) for (const name of names) counted.set(name, (counted.get(name) ?? 0) + weight)
          const left = names.map((name, i) => buckets[i]!.limit - (counted.get(name) ?? 0))
          const answer = limits.take(buckets, nowMs, weight)
          assert.deepEqual([answer.isAllowed, answer.remaining], [isAllowed, Math.min(...left)])
        }
      }),
      { numRuns: 500 },
    )
  })
})
