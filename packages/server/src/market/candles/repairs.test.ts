import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
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
