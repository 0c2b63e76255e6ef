import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { UNIT_PPB, createWalk, type Walk } from './walk.ts'
import { SPAN_LEVELS, TICKS_PER_MINUTE } from './spanTree.ts'
import { DAILY_MOVE_PPB } from './timeline.ts'

const NOON_TICK = Date.UTC(2026, 10, 12, 12) / 250

const MINUTES_OF_NAP = 5
const NAP_TICKS = MINUTES_OF_NAP * TICKS_PER_MINUTE

const walkOf = (seed: number, pairIndex = 0, dailyMovePpb = DAILY_MOVE_PPB.major) =>
  createWalk({ seed, pairIndex, dailyMovePpb })

const sleepyWalk = (seed: number, pairIndex: number) =>
  createWalk({ seed, pairIndex, dailyMovePpb: DAILY_MOVE_PPB.altcoin, isSleepy: true })

const take = (walk: Walk, first: number, count: number) => Array.from({ length: count }, (_, at) => walk.at(first + at))

const tickArbitrary = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) / 250 })

const seedArbitrary = fc.maxSafeNat()

describe('walk', () => {
  it('is fixed for a seed: these values may never change', () => {
    assert.deepEqual(take(walkOf(1), NOON_TICK, 4), take(walkOf(1), NOON_TICK, 4))
    assert.deepEqual(take(walkOf(1), NOON_TICK, 4), FIXED)
  })

  it('differs by seed and by pair', () => {
    const base = take(walkOf(1), NOON_TICK, 50)
    assert.notDeepEqual(take(walkOf(2), NOON_TICK, 50), base)
    assert.notDeepEqual(take(walkOf(1, 1), NOON_TICK, 50), base)
    assert.notDeepEqual(take(walkOf(1 + 2 ** 32), NOON_TICK, 50), base)
  })

  it('does not depend on what was asked before', () => {
    fc.assert(
      fc.property(seedArbitrary, fc.array(tickArbitrary, { minLength: 2, maxLength: 20 }), (seed, ticks) => {
        const used = walkOf(seed)
        const forward = ticks.map((tick) => used.at(tick))
        const backward = ticks.toReversed().map((tick) => used.at(tick))
        assert.deepEqual(backward.toReversed(), forward)
        assert.deepEqual(
          ticks.map((tick) => walkOf(seed).at(tick)),
          forward,
        )
      }),
    )
  })

  it('knows the exact extremes of every span without looking at its ticks', () => {
    fc.assert(
      fc.property(seedArbitrary, tickArbitrary, fc.constantFrom(...SPAN_LEVELS.slice(1)), (seed, near, { ticks }) => {
        const walk = walkOf(seed)
        const first = Math.floor(near / ticks) * ticks
        const values = take(walk, first, ticks)
        assert.deepEqual(walk.extremes(first, first + ticks - 1), {
          high: Math.max(...values),
          low: Math.min(...values),
        })
      }),
      { numRuns: 30 },
    )
  })

  it('knows the exact extremes of a whole day', () => {
    const first = Math.floor(NOON_TICK / SPAN_LEVELS[0]!.ticks) * SPAN_LEVELS[0]!.ticks
    const walk = walkOf(7)
    let high = -Infinity
    let low = Infinity
    for (const value of take(walk, first, SPAN_LEVELS[0]!.ticks)) {
      high = Math.max(high, value)
      low = Math.min(low, value)
    }
    assert.deepEqual(walk.extremes(first, first + SPAN_LEVELS[0]!.ticks - 1), { high, low })
  })

  it('knows the extremes of ranges that fit no span', () => {
    fc.assert(
      fc.property(seedArbitrary, tickArbitrary, fc.integer({ min: 1, max: 20_000 }), (seed, first, count) => {
        const walk = walkOf(seed)
        const values = take(walk, first, count)
        assert.deepEqual(walk.extremes(first, first + count - 1), {
          high: Math.max(...values),
          low: Math.min(...values),
        })
      }),
      { numRuns: 50 },
    )
  })

  it('stays within five daily moves of the start price, in every class', () => {
    fc.assert(
      fc.property(
        seedArbitrary,
        tickArbitrary,
        fc.constantFrom(...Object.values(DAILY_MOVE_PPB)),
        (seed, tick, move) => {
          const value = walkOf(seed, 0, move).at(tick)
          assert.ok(Number.isSafeInteger(value))
          assert.ok(Math.abs(value - UNIT_PPB) < 5 * move, `${value}`)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('moves in small steps, also across minutes, hours and days', () => {
    const walk = walkOf(3)
    const move = DAILY_MOVE_PPB.major
    for (const { ticks } of SPAN_LEVELS) {
      const border = Math.floor(NOON_TICK / ticks) * ticks
      assert.ok(Math.abs(walk.at(border) - walk.at(border - 1)) < move / 10)
    }
    const values = take(walk, NOON_TICK, 60 * TICKS_PER_MINUTE)
    const steps = values.slice(1).map((value, at) => Math.abs(value - values[at]!))
    assert.ok(Math.max(...steps) < move / 10, `largest step ${Math.max(...steps)}`)
    assert.ok(steps.filter((step) => step > 0).length > steps.length * 0.9, 'a live market hardly ever stands still')
  })
})

describe('a sleepy walk', () => {
  const pairArbitrary = fc.integer({ min: 100, max: 101 })

  it('stands still in every second five minutes, and moves in the others', () => {
    fc.assert(
      fc.property(seedArbitrary, tickArbitrary, pairArbitrary, (seed, near, pairIndex) => {
        const first = Math.floor(near / NAP_TICKS) * NAP_TICKS
        const isNap = (first / NAP_TICKS + pairIndex) % 2 === 1
        const values = new Set(take(sleepyWalk(seed, pairIndex), first, NAP_TICKS))
        // A line between two turns that are nearly as high has few values, but never as few as its minutes.
        assert.ok(isNap ? values.size === 1 : values.size > MINUTES_OF_NAP, `${values.size} values`)
      }),
    )
  })

  it('knows the exact extremes of any ticks, naps or not', () => {
    const counts = fc.oneof(
      fc.integer({ min: 1, max: 20_000 }),
      fc.constantFrom(...SPAN_LEVELS.map(({ ticks }) => ticks)),
    )
    fc.assert(
      fc.property(seedArbitrary, tickArbitrary, pairArbitrary, counts, (seed, near, pairIndex, count) => {
        const walk = sleepyWalk(seed, pairIndex)
        const first = count % TICKS_PER_MINUTE === 0 ? Math.floor(near / count) * count : near
        const values = take(walk, first, Math.min(count, 60 * TICKS_PER_MINUTE))
        const [high, low] = [values.reduce((a, b) => Math.max(a, b)), values.reduce((a, b) => Math.min(a, b))]
        assert.deepEqual(walk.extremes(first, first + values.length - 1), { high, low })
      }),
      { numRuns: 30 },
    )
  })
})

describe('findChange', () => {
  it('finds the first tick with another value, as a look at each tick does', () => {
    const walks = fc.tuple(seedArbitrary, fc.boolean()).map(([seed, isSleepy]) => {
      return createWalk({ seed, pairIndex: 100, dailyMovePpb: DAILY_MOVE_PPB.altcoin, isSleepy })
    })
    // From values that change with every tick to ones that stay the same for hours.
    const steps = fc.constantFrom(1, 10_000, 100_000, 1_000_000, 10_000_000)
    fc.assert(
      fc.property(walks, tickArbitrary, fc.integer({ min: 0, max: 20_000 }), steps, (walk, first, count, step) => {
        const rounded = (value: number): number => Math.floor(value / step)
        const before = rounded(walk.at(first - 1))
        const isSame = (value: number): boolean => rounded(value) === before
        const at = take(walk, first, count).findIndex((value) => !isSame(value))
        assert.equal(walk.findChange(first, first + count - 1, isSame), at === -1 ? undefined : first + at)
      }),
    )
  })
})

const FIXED = [957_157_619, 957_170_746, 957_160_762, 957_147_248]
