import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ApiError, type Candle } from '@bezel/protocol'
import { startStreamWorld, type StreamWorld } from '../testing/streamWorld.ts'
import type { StreamClient, Told } from '../testing/streamClient.ts'

const MINUTE_MS = 60_000
const CHART = { op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '1m' }

const flat = (minute: number, price: string): Candle => ({
  time: minute * MINUTE_MS,
  open: price,
  high: price,
  low: price,
  close: price,
})
const closesOf = ({ data }: Told): unknown[] => (data as Candle[]).map(({ time, close }) => [time / MINUTE_MS, close])

describe('candles that are corrected after they ended', () => {
  let world: StreamWorld
  let client: StreamClient
  beforeEach(async () => {
    world = await startStreamWorld()
    client = await world.connect()
    await client.next()
    world.sources.candlesOf = [flat(0, '10'), flat(1, '10'), flat(2, '10'), flat(3, '11')]
    await subscribe(client)
  })
  afterEach(() => world.close())

  async function subscribe(by: StreamClient): Promise<Told> {
    equal((await by.ask(CHART)).op, 'subscribed')
    return by.next()
  }

  async function lateSnapshot(): Promise<unknown[]> {
    const late = await world.connect()
    await late.next()
    return closesOf(await subscribe(late))
  }

  async function expectSilence(): Promise<void> {
    equal((await client.ask({ op: 'ping' })).op, 'pong')
  }

  it('reach who listens in one message, oldest first, and who comes later', async () => {
    const repaired = [flat(0, '10'), flat(1, '25'), flat(2, '30'), flat(3, '12')]
    world.sources.candlesOf = repaired
    world.sources.tellRepaired(0, '1m')
    const told = await client.next()
    deepEqual(
      [told.snapshot, closesOf(told)],
      [false, repaired.slice(1).map(({ time, close }) => [time / MINUTE_MS, close])],
    )
    deepEqual(await lateSnapshot(), [
      [0, '10'],
      [1, '25'],
      [2, '30'],
      [3, '12'],
    ])
    world.sources.tellRepaired(0, '1m')
    await expectSilence()
  })

  it('are those of the repaired market and interval alone', async () => {
    world.sources.candlesOf = [flat(2, '30'), flat(3, '11')]
    world.sources.tellRepaired(0, '5m')
    world.sources.tellRepaired(21, '1m')
    await expectSilence()
  })

  it('are as they were read last when they are corrected again meanwhile', async () => {
    const answers: ((candles: Candle[]) => void)[] = []
    world.sources.candles.recent = () => new Promise((resolve) => answers.push(resolve))
    world.sources.tellRepaired(0, '1m')
    await expectSilence()
    world.sources.tellRepaired(0, '1m')
    answers.shift()!([flat(2, '30'), flat(3, '11')])
    deepEqual(closesOf(await client.next()), [[2, '30']])
    equal(answers.length, 1)
    answers.shift()!([flat(2, '31'), flat(3, '11')])
    deepEqual(closesOf(await client.next()), [[2, '31']])
    await expectSilence()
    equal(answers.length, 0)
  })

  it('are told when the next candle begins where they could not be read before', async () => {
    const { recent } = world.sources.candles
    world.sources.candles.recent = () => Promise.reject(new ApiError('UPSTREAM_UNAVAILABLE', 'no'))
    world.sources.tellRepaired(0, '1m')
    await expectSilence()
    world.sources.candles.recent = recent
    world.sources.candlesOf = [flat(2, '30'), flat(3, '11'), flat(4, '12')]
    world.sources.tellCandles([0])
    deepEqual(closesOf(await client.next()), [[4, '12']])
    deepEqual(closesOf(await client.next()), [[2, '30']])
  })

  it('are told anew when the clock they were counted by was put back', async () => {
    world.sources.candlesOf = [flat(0, '10'), flat(1, '13')]
    world.sources.tellCandles([0])
    const told = await client.next()
    deepEqual(
      [told.snapshot, closesOf(told)],
      [
        true,
        [
          [0, '10'],
          [1, '13'],
        ],
      ],
    )
  })
})
