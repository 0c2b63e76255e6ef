import { Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'

const MINUTE_MS = 60_000
/** Shortly after the begin of a day, so that candles of several widths begin at other times. */
const DAY_MS = Date.UTC(2026, 10, 14)
const START_MS = DAY_MS + 7 * MINUTE_MS + 10_000
const [FIVE, SIX] = [Price.of(5n), Price.of(6n)]

describe('the last prices of the stored candles', () => {
  let world: CandleWorld
  beforeEach(async () => (world = await createCandleWorld(START_MS)))
  afterEach(() => world.close())

  /** Lets the feed live for a while without a price. */
  function beatFor(ms: number): void {
    for (const endMs = world.nowMs + ms; world.nowMs < endMs;) {
      world.nowMs += 2_000
      world.publish([])
    }
  }

  async function restart(): Promise<void> {
    await world.flush()
    await world.kill()
  }

  it('are none at a first start', () => assert.deepEqual(world.recalled, []))

  it('are as old as their last ticks', async () => {
    world.connect()
    world.publish([
      [0, FIVE],
      [7, FIVE],
    ])
    world.publish([[7, SIX]], START_MS + 1)
    await restart()
    assert.deepEqual(world.recalled, [
      { pairIndex: 0, mark: FIVE, index: FIVE, updatedAtMs: START_MS },
      { pairIndex: 7, mark: SIX, index: SIX, updatedAtMs: START_MS + 1 },
    ])
  })

  it('stay as old as they are, however long the pair sleeps and whatever candles carry them', async () => {
    world.connect()
    world.publish([[0, FIVE]])
    for (const sleptMs of [2 * MINUTE_MS, 20 * MINUTE_MS, 24 * 60 * MINUTE_MS]) {
      beatFor(sleptMs)
      await restart()
      assert.deepEqual(world.recalled, [{ pairIndex: 0, mark: FIVE, index: FIVE, updatedAtMs: START_MS }])
      world.connect()
    }
  })
})
