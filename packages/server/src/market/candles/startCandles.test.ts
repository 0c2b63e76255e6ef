import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ApiError, CANDLE_INTERVALS, formatDecimal, Price, type Candle, type CandleInterval } from '@bezel/protocol'
import fc from 'fast-check'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'
import { referenceCandles, type PublishedTick } from './testing/referenceCandles.ts'

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]
/** Shortly before the end of a day, so that candles of every width end. */
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

const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 13n })
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ticks' as const),
      dtMs: fc.nat(2_900),
      pair: fc.nat(2),
      price: anyPrice,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('boundary' as const), pair: fc.nat(2), price: anyPrice }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('late' as const),
      byMs: fc.nat(90_000),
      pair: fc.nat(2),
      price: anyPrice,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('beats' as const), count: fc.integer({ min: 1, max: 90 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('outage' as const),
      forMs: fc.nat(200_000),
      pair: fc.nat(2),
      price: anyPrice,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('silence' as const),
      forMs: fc.nat(20_000),
      pair: fc.nat(2),
      price: anyPrice,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('kill' as const),
      forMs: fc.nat(100_000),
      pair: fc.nat(2),
      price: anyPrice,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('slow' as const), isSlow: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'flush' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'ask' as const }) },
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

/** Publishes prices while nobody is connected, at the beginning, in the middle and at the end of a stretch. */
function publishUnheard(world: CandleWorld, forMs: number, pairIndex: number, mark: bigint): void {
  for (const part of [0, 0.37, 1])
    world.publish([[pairIndex, Price.of(mark + BigInt(Math.floor(part * 10)))]], world.nowMs + Math.floor(forMs * part))
  world.nowMs += forMs
}

async function take(world: CandleWorld, step: Step): Promise<void> {
  switch (step.kind) {
    case 'ticks':
      world.nowMs += step.dtMs
      return world.publish([[PAIRS[step.pair]!, Price.of(step.price)]])
    case 'boundary':
      // Ticks at the last millisecond of a minute, at its end, and at the same instant again.
      world.publish([], (world.nowMs += 60_000 - (world.nowMs % 60_000) - 1))
      world.publish([[PAIRS[step.pair]!, Price.of(step.price)]])
      world.publish([[PAIRS[step.pair]!, Price.of(step.price + 5n)]], (world.nowMs += 1))
      return world.publish([[PAIRS[step.pair]!, Price.of(step.price + 2n)]])
    case 'late':
      world.publish([[PAIRS[step.pair]!, Price.of(step.price)]], Math.max(START_MS, world.nowMs - step.byMs))
      // Flushed, because a tick for an ended candle that a crash loses before it is written can't be recovered
      // afterwards.
      return world.flush()
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
        fc.array(anyStep, { minLength: 5, maxLength: 40 }),
        async (mood, steps) => {
          const own = await createCandleWorld(START_MS)
          own.mood = mood
          own.connect()
          own.publish(PAIRS.slice(0, 2).map((pair) => [pair, Price.of(10n ** 12n)]))
          for (const [at, one] of steps.entries()) {
            await take(own, one)
            if (at % 9 !== 8) continue
            own.isSlow = false
            own.rest()
            await own.settle()
            await assertExact(own)
          }
          own.isSlow = false
          own.rest()
          await own.settle()
          await assertExact(own)
          await own.close()
        },
      ),
      { numRuns: 100, interruptAfterTimeLimit: 120_000 },
    )
  })

  const usd = (price: number): Price => Price.of(BigInt(Math.round(price * 100)) * 10n ** 8n)

  it('are heard by every node and written by the one that leads, with what ended before it led', async () => {
    world.mood = 'none'
    await world.setWriting(false)
    world.connect()
    world.publish([[0, usd(100)]])
    world.publish([[0, usd(110)]], (world.nowMs += 60_000))
    await world.flush()
    assert.equal(await world.storedRows(), 0)
    const [ended] = await world.list(0, '1m', START_MS - 600_000)
    assert.equal(ended!.close, '100')
    await world.setWriting(true)
    await world.flush()
    const rows = await world.storedRows()
    assert.ok(rows > 0)
    world.publish([[0, usd(120)]], (world.nowMs += 3_600_000))
    await world.setWriting(false)
    assert.ok((await world.storedRows()) > rows, 'what was not written goes to the store before it is left')
  })

  it('are made of what was heard where the upstream has no history, and survive a crash as of the last flush', async () => {
    world.mood = 'none'
    world.connect()
    world.publish([[0, usd(100)]])
    world.publish([[0, usd(110)]], (world.nowMs += 1_000))
    await world.flush()
    world.publish([[0, usd(500)]], (world.nowMs += 1_000))
    await world.kill()
    world.nowMs += 150_000
    world.connect()
    world.publish([[0, usd(90)]])
    const [first, gap, ...rest] = await world.list(0, '1m', START_MS - 600_000)
    assert.deepEqual([first!.open, first!.high, first!.close], ['100', '110', '110'])
    assert.deepEqual([gap!.open, gap!.high, gap!.low, gap!.close], ['110', '110', '110', '110'])
    assert.deepEqual([rest.length, rest.at(-1)!.open, rest.at(-1)!.close], [2, '90', '90'])
    assert.deepEqual(
      (await world.list(0, '1d', START_MS - 86_400_000)).map(({ open, high, low }) => [open, high, low]),
      [
        ['100', '110', '100'],
        ['90', '90', '90'],
      ],
    )
  })

  it('are refused when they are older than what is kept and the upstream does not answer, and else given', async () => {
    world.mood = 'down'
    world.connect()
    world.publish([[0, usd(100)]])
    assert.equal((await world.list(0, '1m', START_MS - 30_000)).length, 1)
    const older = world.list(0, '1m', START_MS - 600_000)
    await assert.rejects(older, (error) => error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE')
  })

  it('are none of a market without a price, and of one that does not tick what the upstream has', async () => {
    world.publish([[7, usd(5)]], START_MS - 3_600_000)
    world.connect()
    world.publish([[0, usd(100)]])
    assert.deepEqual(await world.list(300, '1m', START_MS - 600_000), [])
    assert.equal(world.candles().current(300, '1m'), undefined)
    const quiet = await world.list(7, '5m', START_MS - 600_000)
    assert.deepEqual([quiet.length, new Set(quiet.map(({ close }) => close))], [2, new Set(['5'])])
    assert.equal(world.candles().current(7, '5m')?.close, '5')
  })

  it('of old times are asked for once and then kept, also over a restart', async () => {
    world.publish([[0, usd(100)]], START_MS - 86_400_000)
    world.connect()
    world.publish([[0, usd(100)]])
    const oldMs = START_MS - 80_000_000
    const first = await world.list(0, '5m', oldMs, oldMs + 3_600_000)
    assert.equal(first.length, 12)
    await world.flush()
    const asked = world.asked.length
    assert.deepEqual(await world.list(0, '5m', oldMs, oldMs + 3_600_000), first)
    await world.kill()
    world.mood = 'down'
    assert.deepEqual(await world.list(0, '5m', oldMs, oldMs + 3_600_000), first)
    assert.equal(world.asked.length, asked)
  })

  it('are not led astray by impossible times', async () => {
    world.mood = 'none'
    world.connect()
    world.publish([[0, usd(100)]])
    for (const timeMs of [1, START_MS * 2, Number.MAX_SAFE_INTEGER]) world.publish([[0, usd(101)]], timeMs)
    assert.deepEqual(
      (await world.list(0, '1m', START_MS - 600_000, START_MS)).map(({ high }) => high),
      ['101'],
    )
  })

  it('tell who listens which pairs changed, and give the last ones', async () => {
    world.mood = 'none'
    const told: (readonly number[])[] = []
    const stop = world.candles().onChange((pairs) => told.push(pairs))
    world.connect()
    world.publish([
      [0, usd(1)],
      [7, usd(2)],
    ])
    world.publish([])
    world.publish([[7, usd(3)]])
    world.publish([], (world.nowMs += 60_000))
    stop()
    world.publish([[7, usd(4)]])
    assert.deepEqual(told, [[0, 7], [7], [0, 7]])
    const recent = await world.candles().recent(7, '1m', 2)
    assert.deepEqual(
      recent.map(({ open, close }) => [open, close]),
      [
        ['2', '3'],
        ['4', '4'],
      ],
    )
    assert.deepEqual(world.candles().current(7, '1m'), recent.at(-1))
  })
})
