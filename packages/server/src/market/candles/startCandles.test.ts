import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CANDLE_INTERVALS, formatDecimal, type Candle, type CandleInterval } from '@bezel/protocol'
import fc from 'fast-check'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'
import { referenceCandles, type PublishedTick } from './testing/referenceCandles.ts'

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]
/** Shortly before a day ends, so that candles of every width do. */
const START_MS = Date.UTC(2026, 10, 14, 23, 58, 30)
const PAIRS = [0, 7, 300]

function expected(ticks: readonly PublishedTick[], pairIndex: number, interval: CandleInterval, clockMs: number) {
  const widthMs = CANDLE_INTERVALS[interval]
  const mine = ticks.filter((tick) => tick.pairIndex === pairIndex)
  const candles = [...referenceCandles(mine, widthMs, clockMs)].map(([time, { open, high, low, close }]): Candle => ({
    time,
    open: formatDecimal(open, 10),
    high: formatDecimal(high, 10),
    low: formatDecimal(low, 10),
    close: formatDecimal(close, 10),
  }))
  return candles.slice(-4_990)
}

async function assertExact(world: CandleWorld, ticks = world.published): Promise<void> {
  for (const pairIndex of PAIRS) {
    for (const interval of INTERVALS) {
      const want = expected(ticks, pairIndex, interval, world.clockMs)
      const listed = await world.list(pairIndex, interval, START_MS - 2 * CANDLE_INTERVALS[interval], world.clockMs)
      const got = want[0] === undefined ? listed : listed.filter(({ time }) => time >= want[0]!.time)
      assert.deepEqual(got, want, `pair ${pairIndex}, ${interval}`)
    }
  }
}

const price = fc.bigInt({ min: 1n, max: 10n ** 13n })
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('ticks' as const), dtMs: fc.nat(2_900), pair: fc.nat(2), price }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('boundary' as const), pair: fc.nat(2), price }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('late' as const), byMs: fc.nat(90_000), pair: fc.nat(2), price }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('beats' as const), count: fc.integer({ min: 1, max: 90 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('outage' as const), forMs: fc.nat(200_000), pair: fc.nat(2), price }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('silence' as const), forMs: fc.nat(20_000), pair: fc.nat(2), price }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('kill' as const), forMs: fc.nat(100_000), pair: fc.nat(2), price }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('slow' as const), isSlow: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'flush' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'ask' as const }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Prices of a stretch that nobody listens to, at its beginning, somewhere and its end. */
function publishUnheard(world: CandleWorld, forMs: number, pairIndex: number, mark: bigint): void {
  for (const part of [0, 0.37, 1])
    world.publish([[pairIndex, mark + BigInt(Math.floor(part * 10))]], world.nowMs + Math.floor(forMs * part))
  world.nowMs += forMs
}

async function take(world: CandleWorld, step: Step): Promise<void> {
  switch (step.kind) {
    case 'ticks':
      world.nowMs += step.dtMs
      return world.publish([[PAIRS[step.pair]!, step.price]])
    case 'boundary':
      // The last millisecond of a minute, its end, and the same instant again.
      world.publish([], (world.nowMs += 60_000 - (world.nowMs % 60_000) - 1))
      world.publish([[PAIRS[step.pair]!, step.price]])
      world.publish([[PAIRS[step.pair]!, step.price + 5n]], (world.nowMs += 1))
      return world.publish([[PAIRS[step.pair]!, step.price + 2n]])
    case 'late':
      return world.publish([[PAIRS[step.pair]!, step.price]], Math.max(START_MS, world.nowMs - step.byMs))
    case 'beats':
      for (let beat = 0; beat < step.count; beat += 1) world.publish([], (world.nowMs += 1_000))
      return
    case 'outage':
      world.isConnected = false
      publishUnheard(world, step.forMs, PAIRS[step.pair]!, step.price)
      world.connect()
      return world.publish([], (world.nowMs += 250))
    case 'silence':
      world.isConnected = false
      publishUnheard(world, step.forMs + 3_001, PAIRS[step.pair]!, step.price)
      world.isConnected = true
      return world.publish([])
    case 'kill':
      await world.kill()
      publishUnheard(world, step.forMs, PAIRS[step.pair]!, step.price)
      world.connect()
      return world.publish([])
    case 'slow':
      world.isSlow = step.isSlow
      return world.settle()
    case 'flush':
      return world.flush()
    case 'ask':
      void world.list(0, '1m', START_MS)
      return world.settle()
  }
}

describe('candles', () => {
  let world: CandleWorld
  beforeEach(async () => {
    world = await createCandleWorld(START_MS)
  })
  afterEach(() => world.close())

  it('equal those computed from all ticks afterwards, whatever was missed, whenever it is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('full' as const, 'sparse' as const),
        fc.array(step, { minLength: 5, maxLength: 40 }),
        async (mood, steps) => {
          const own = await createCandleWorld(START_MS)
          own.mood = mood
          own.connect()
          own.publish(PAIRS.slice(0, 2).map((pair) => [pair, 10n ** 12n]))
          for (const [at, one] of steps.entries()) {
            await take(own, one)
            if (at % 9 !== 8) continue
            own.isSlow = false
            await own.settle()
            await assertExact(own)
          }
          own.isSlow = false
          await own.settle()
          await assertExact(own)
          await own.close()
        },
      ),
      { numRuns: 100, interruptAfterTimeLimit: 120_000 },
    )
  })
})
