import { Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { MAX_REPAIRS_PER_MINUTE } from './limits.ts'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'

const MINUTE_MS = 60_000
const START_MS = Date.UTC(2026, 10, 14, 12)
const PAIRS = Array.from({ length: 20 }, (_, pairIndex) => pairIndex)
const usd = (price: number): Price => Price.of(BigInt(Math.round(price * 100)) * 10n ** 8n)

describe('candles of a feed whose times are not ours', () => {
  let world: CandleWorld
  beforeEach(async () => {
    world = await createCandleWorld(START_MS)
    world.connect()
  })
  afterEach(() => world.close())

  /**
   * Publishes ten ticks a second, each at 100 USD plus the number of the step. `skewMs` returns how far the feed's
   * clock is ahead.
   */
  async function tickFor(forMs: number, skewMs: (step: number) => number, onStep?: () => void): Promise<void> {
    for (let step = 0; step < forMs / 100; step += 1) {
      world.nowMs += 100
      world.publish(
        PAIRS.map((pairIndex) => [pairIndex, usd(100 + step)]),
        world.nowMs + skewMs(step),
      )
      await world.round()
      await world.settle()
      onStep?.()
    }
  }

  const closeNow = (): string | undefined => world.candles().current(0, '1m')?.close

  it('go on as ever after one frame of the future, and ask the upstream for nothing', async () => {
    await tickFor(2 * MINUTE_MS, () => 0)
    const asked = world.asked.length
    const closes = new Set<string | undefined>()
    await tickFor(
      2 * MINUTE_MS,
      (step) => (step === 5 ? 9 * MINUTE_MS : 0),
      () => closes.add(closeNow()),
    )
    assert.equal(closes.size, 1_200)
    assert.equal(world.candles().current(0, '1m')?.time, world.nowMs - (world.nowMs % MINUTE_MS))
    assert.equal(world.asked.length, asked)
  })

  for (const [how, skewMs] of [
    ['always ahead', () => 5_000],
    ['ahead by as much as is believed, now a little more and now less', (step: number) => 1_950 + (step % 3) * 50],
    ['always behind', () => -5_000],
    ['always behind by minutes', () => -400_000],
  ] as const) {
    it(`follow every tick of a feed that is ${how}, without a gap`, async () => {
      world.mood = 'none'
      let step = 0
      await tickFor(3 * MINUTE_MS, skewMs, () => assert.equal(closeNow(), String(100 + step++)))
      const listed = await world.list(0, '1m', START_MS - 10 * MINUTE_MS, world.nowMs + MINUTE_MS)
      const ended = listed.slice(1, -1)
      assert.ok(ended.length >= 2)
      for (const { open, close } of ended) assert.ok(Math.abs(Number(close) - Number(open) - 599) <= 1)
    })
  }

  it('are read from the upstream a few times a minute at most, however many ticks come late', async () => {
    await tickFor(MINUTE_MS, () => 0)
    const before = world.asked.length
    // Every other frame is dated one and a half minutes ago.
    await tickFor(
      2 * MINUTE_MS,
      (step) => (step % 2) * -1.5 * MINUTE_MS,
      () => void world.list(0, '1m', START_MS),
    )
    const narrow = world.asked.slice(before).filter(({ minutes }) => minutes === 1)
    assert.ok(narrow.length <= 3 * MAX_REPAIRS_PER_MINUTE * PAIRS.length, `${narrow.length} requests`)
  })

  it('go on when our own clock was put back', async () => {
    await tickFor(10_000, () => 0)
    for (const backMs of [20_000, 20 * MINUTE_MS]) {
      world.nowMs -= backMs
      await tickFor(3_000, () => 0)
      const first = closeNow()
      await tickFor(3_100, () => 0)
      assert.deepEqual([first, closeNow()], ['129', '130'])
    }
    assert.equal(world.candles().current(0, '1m')?.time, world.nowMs - (world.nowMs % MINUTE_MS))
  })
})
