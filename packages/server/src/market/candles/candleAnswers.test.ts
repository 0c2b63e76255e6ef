import { equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { until } from '@bezel/testkit/until.ts'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'

const START_MS = Date.UTC(2026, 10, 14, 12, 0, 30)
const MINUTE_MS = 60_000
const RANGE = { interval: '1m', fromMs: START_MS - 100 * MINUTE_MS, toMs: START_MS + 100 * MINUTE_MS } as const

describe('answers of candles', () => {
  let world: CandleWorld
  beforeEach(async () => {
    world = await createCandleWorld(START_MS)
    world.connect()
    world.publish([[0, 100n * 10n ** 10n]])
  })
  afterEach(() => world.close())

  const answer = (): Promise<Buffer> => world.candles().list(0, RANGE)

  // They are kept by the hundred: cut out of a block that others share, each would keep all of the block.
  it('are kept in memory of their own, when they are new and when a tick was added', async () => {
    const first = await answer()
    equal(await answer(), first, 'kept')
    equal(first.buffer.byteLength, first.length)
    world.publish([[0, 101n * 10n ** 10n]], (world.nowMs += 1_000))
    const next = await answer()
    equal(next.toString('latin1').includes('"close":"101"'), true)
    equal(await answer(), next, 'kept')
    equal(next.buffer.byteLength, next.length)
  })

  it('of the last candles are forgotten when the next candle has begun', async () => {
    const gc = exposedGc()
    const recent = (): Promise<unknown> => world.candles().recent(0, '1m', 100)
    await recent()
    const first = new WeakRef(await lastCandles())
    equal(await lastCandles(), first.deref(), 'kept')
    world.publish([[0, 102n * 10n ** 10n]], (world.nowMs += MINUTE_MS))
    await recent()
    await until('the answer of the minute before is gone', () => {
      gc()
      return first.deref() === undefined
    })
  })

  /** The same answer that `recent` is made from. */
  function lastCandles(): Promise<Buffer> {
    const runningMs = world.nowMs - (world.nowMs % MINUTE_MS)
    return world.candles().list(0, { interval: '1m', fromMs: runningMs - 99 * MINUTE_MS, toMs: runningMs })
  }
})

function exposedGc(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
