import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { Price } from '@bezel/protocol'
import { MAX_REPAIRS_PER_MINUTE } from './limits.ts'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'

const MINUTE_MS = 60_000
const START_MS = Date.UTC(2026, 10, 14, 12)
const usd = (price: number): Price => Price.of(BigInt(price) * 10n ** 10n)

describe('what was missed of candles', () => {
  let world: CandleWorld
  const told: string[] = []
  beforeEach(async () => {
    world = await createCandleWorld(START_MS)
    told.length = 0
    world.candles().onRepaired(({ pairIndex, interval }) => told.push(`${pairIndex} ${interval}`))
    world.connect()
    world.publish([[0, usd(10)]])
  })
  afterEach(() => world.close())

  /** Publishes 25 while disconnected; after the reconnect the price is 30 again. */
  function missTwoMinutes(): void {
    world.isConnected = false
    world.publish([[0, usd(25)]], START_MS + MINUTE_MS)
    world.nowMs += 2 * MINUTE_MS
    world.connect()
    world.publish([[0, usd(30)]])
  }

  async function roundsOf(count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      await world.round()
      await world.settle()
    }
  }

  it('is read without being asked for, and told when it is there', async () => {
    missTwoMinutes()
    await roundsOf(7)
    assert.deepEqual(told.toSorted(), ['0 15m', '0 1d', '0 1h', '0 1m', '0 30m', '0 4h', '0 5m'])
    const asked = world.asked.length
    const closes = (await world.candles().recent(0, '1m', 3)).map(({ close }) => close)
    assert.deepEqual([closes, world.asked.length], [['10', '25', '30'], asked])
  })

  it('is kept as far as it was read, and read again, when more is missed meanwhile', async () => {
    missTwoMinutes()
    world.isSlow = true
    await world.round()
    world.publish([[0, usd(99)]], START_MS + MINUTE_MS + 1)
    const { recent } = world.candles()
    const closes = recent(0, '1m', 3).then((candles) => candles.map(({ close }) => close))
    for (let turn = 0; turn < 3; turn += 1) await world.settle()
    assert.deepEqual(await closes, ['10', '99', '30'])
    assert.deepEqual(told, ['0 1m', '0 1m'])
  })

  it('of one series is asked for a few times a minute, and of the others all the same', async () => {
    for (let late = 0; late < 20; late += 1) {
      world.publish([[0, usd(11)]], START_MS - 1)
      await roundsOf(7)
    }
    assert.equal(world.asked.length, 7 * MAX_REPAIRS_PER_MINUTE)
    assert.equal(new Set(told).size, 7)
    world.rest()
    await roundsOf(1)
    assert.equal(world.asked.length, 7 * MAX_REPAIRS_PER_MINUTE + 1)
  })
})

describe('a history of which one pair is broken', () => {
  it('repairs all others, and goes on asking for that one, ever less often', async () => {
    const world = await createCandleWorld(START_MS)
    const told = new Set<number>()
    world.candles().onRepaired(({ pairIndex }) => told.add(pairIndex))
    world.brokenPairs.add(0)
    world.connect()
    world.publish([0, 1, 2].map((pair) => [pair, usd(10)]))
    for (let round = 0; round < 30; round += 1) {
      await world.round()
      await world.settle()
    }
    assert.deepEqual([...told].toSorted(), [1, 2])
    assert.equal(world.asked.length, 1 + 2 * 7, 'the broken one waits')
    world.brokenPairs.clear()
    world.rest()
    await world.round()
    await world.settle()
    assert.equal(told.has(0), true)
    await world.close()
  })
})

describe('repairs with a pause', () => {
  const PAUSE_MS = 1_100
  let world: CandleWorld
  beforeEach(async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    world = await createCandleWorld(START_MS, PAUSE_MS)
    world.connect()
    world.publish(Array.from({ length: 50 }, (_, pair) => [pair, usd(10)]))
  })
  afterEach(async () => {
    mock.timers.reset()
    await world.close()
  })

  /** Lets time pass, with ten rounds a second. Returns the number of requests in each second. */
  async function seconds(count: number): Promise<number[]> {
    const counts: number[] = []
    for (let second = 0; second < count; second += 1) {
      const before = world.asked.length
      for (let round = 0; round < 10; round += 1) {
        await world.round()
        await world.settle()
        mock.timers.tick(100)
      }
      counts.push(world.asked.length - before)
    }
    return counts
  }

  it('stay under one request a second, whatever is missing', async () => {
    const counts = await seconds(22)
    assert.ok(
      counts.every((count) => count <= 1),
      JSON.stringify(counts),
    )
    assert.equal(world.asked.length, 20)
  })

  it('stay under it for readers too, who wait for a few and are answered without the others', async () => {
    await seconds(1)
    const read = (pair: number) => world.candles().recent(pair, '1m', 1)
    const waiting = Array.from({ length: 4 }, (_, at) => read(10 + at))
    const before = world.asked.length
    const [hurried] = await read(20)
    assert.deepEqual([hurried?.close, world.asked.length], ['10', before], 'what was heard, without a request')
    const counts = await seconds(6)
    assert.ok(counts.every((count) => count <= 1))
    for (const [candle] of await Promise.all(waiting)) assert.equal(candle?.close, '10')
    assert.ok(world.askedPairs.slice(before).includes(20), 'and repaired before the pairs that nobody reads')
  })
})
