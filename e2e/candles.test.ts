import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CANDLE_INTERVALS, CandleSchema, formatDecimal, Price, type Candle, type CandleInterval } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { type Ohlc, createFeedPages } from '../packages/server/src/market/feed/pages.ts'
import { flatOhlc, isFlat, joinOhlc } from '../packages/server/src/market/candles/candleText.ts'
import { until } from '@bezel/testkit/until.ts'
import { recordTicks, type TickRecorder } from './candles/recordTicks.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startFaultyProxy, type FaultyProxy } from './outages/faultyProxy.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'

const CHAIN = 'arbitrum-sepolia'

const MINUTE_MS = 60_000

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]

/** Pair indices of the local listing. */
const MARKETS = { 'BTC/USD': 0, 'ETH/USD': 1, 'EUR/USD': 21 } as const

type Market = keyof typeof MARKETS

const NAMES = Object.keys(MARKETS) as Market[]

describe('candles, through outages and crashes', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let feed: FaultyProxy
  let recorder: TickRecorder
  let service: RunningService
  /** The minutes up to the beginning of the recording, once for each market. */
  const earlier = new Map<Market, ReadonlyMap<number, Ohlc>>()

  before(async () => {
    devnet = await startDevnet()
    chain = createChainClient(devnet.file)
    recorder = await recordTicks(devnet.file.feedUrl)
    feed = await startFaultyProxy(devnet.file.feedUrl)
    service = await start()
    for (const name of NAMES) earlier.set(name, await minutesBefore(name))
  })
  after(async () => {
    await service?.stop()
    recorder?.close()
    await Promise.all([feed?.close(), devnet?.stop()])
  })

  const start = (): Promise<RunningService> =>
    startService(devnet, {
      BEZEL_FEED_URL: feed.url,
      BEZEL_IP_LIMIT: '1000000',
      BEZEL_MARKETS_REFRESH_MS: '200',
      BEZEL_REPAIR_PAUSE_MS: '0',
    })

  async function get(
    market: string,
    query: string,
  ): Promise<{ status: number; body: { data: Candle[]; code: string } }> {
    const answer = await fetch(`${service.url}/v1/${CHAIN}/markets/${market.replace('/', '-')}/candles?${query}`)
    return { status: answer.status, body: (await answer.json()) as never }
  }

  /** Reads from the feed the minutes up to that in which the recording began, from the start of the day on. */
  async function minutesBefore(name: Market): Promise<ReadonlyMap<number, Ohlc>> {
    const sinceMs = recorder.sinceMs()
    const fromMs = sinceMs - (sinceMs % CANDLE_INTERVALS['1d'])
    const range = { fromS: fromMs / 1_000, toS: Math.floor(sinceMs / MINUTE_MS) * 60, minutes: 1 }
    return (await createFeedPages(devnet.file.feedUrl).history(MARKETS[name], range))!
  }

  /** Computes from the recording the candles that it reaches into. */
  function computed(name: Market, interval: CandleInterval): readonly Candle[] {
    const widthMs = CANDLE_INTERVALS[interval]
    const candles = new Map<number, Ohlc>()
    const add = (timeMs: number, ohlc: Ohlc): void => {
      const beginMs = timeMs - (timeMs % widthMs)
      candles.set(beginMs, joinOhlc(candles.get(beginMs), ohlc)!)
    }
    for (const [timeMs, minute] of tickedMinutes(earlier.get(name)!)) add(timeMs, minute)
    const minuteMs = Math.floor(recorder.sinceMs() / MINUTE_MS) * MINUTE_MS
    for (const { pairIndex, timeMs, price } of recorder.ticks) {
      if (pairIndex === MARKETS[name] && timeMs > recorder.sinceMs()) add(timeMs, flatOhlc(Price.of(price)))
    }
    const listed: Candle[] = []
    let close = earlier.get(name)!.get(minuteMs)!.close
    for (let time = minuteMs - (minuteMs % widthMs); time <= recorder.clockMs(); time += widthMs) {
      const ohlc = candles.get(time) ?? flatOhlc(close)
      listed.push({ time, ...textOf(ohlc) })
      close = ohlc.close
    }
    return listed
  }

  /** Freezes all prices, so that only a new minute changes a candle between two reads, and compares. */
  async function assertExact(): Promise<void> {
    for (const name of NAMES) await chain.control('bezel_freezePrice', name, true)
    for (const name of NAMES) {
      for (const interval of INTERVALS) {
        let told: readonly Candle[] = []
        const isSame = async (): Promise<boolean> => {
          const want = computed(name, interval)
          told = (await get(name, `interval=${interval}&from=${want[0]!.time}`)).body.data
          return JSON.stringify(told) === JSON.stringify(want)
        }
        await until(`${name} ${interval}`, isSame).catch(() => assert.deepEqual(told, computed(name, interval)))
      }
    }
    for (const name of NAMES) await chain.control('bezel_freezePrice', name, false)
  }

  /** Sets a price for a moment, which only current listeners see. */
  async function spike(name: Market, factor: number): Promise<void> {
    const price = recorder.ticks.findLast(({ pairIndex }) => pairIndex === MARKETS[name])?.price ?? 11_600_000_000n
    const cents = (price * BigInt(Math.round(factor * 1_000))) / 1_000n / 100_000_000n
    await chain.control('bezel_setPrice', name, formatDecimal(cents, 2))
    await chain.control('bezel_setPrice', name, formatDecimal(price / 100_000_000n, 2))
  }

  it('are there for any market at once, as long as has been asked for', async () => {
    for (const interval of INTERVALS) {
      const { status, body } = await get('BTC/USD', `interval=${interval}`)
      assert.equal(status, 200)
      assert.ok(body.data.length >= 500 && body.data.length <= 501, `${interval}: ${body.data.length}`)
      for (const candle of body.data) assert.ok(Value.Check(CandleSchema, candle))
      const steps = body.data.slice(1).map(({ time }, at) => time - body.data[at]!.time)
      assert.deepEqual(new Set(steps), new Set([CANDLE_INTERVALS[interval]]))
      assert.ok(body.data.at(-1)!.time <= Date.now())
    }
    assert.equal((await get('EUR/USD', 'interval=1m')).body.data.length >= 500, true, 'also of a market that is closed')
    await assertExact()
  })

  it('are exact after the stream was cut, with what happened meanwhile', async () => {
    feed.setStreams('down')
    for (const name of NAMES) await spike(name, 1.05)
    feed.setStreams('none')
    await until('connected again', () => feed.openStreams() > 0)
    await assertExact()
  })

  it('are exact after the stream was silent for a while, though it stayed connected', async () => {
    feed.setStreams('silent')
    const sinceMs = recorder.clockMs()
    for (const name of NAMES) await spike(name, 0.94)
    await until('some silence', () => recorder.clockMs() > sinceMs + 4_000)
    feed.setStreams('none')
    await assertExact()
  })

  it('are exact after a crash around the end of a minute', async () => {
    await spike('ETH/USD', 1.11)
    await service.kill()
    for (const name of NAMES) await spike(name, 1.02)
    const minute = Math.floor(recorder.clockMs() / MINUTE_MS)
    await until('the next minute', () => Math.floor(recorder.clockMs() / MINUTE_MS) > minute)
    await spike('BTC/USD', 0.97)
    service = await start()
    await assertExact()
  })

  it('go on from what is kept while the history is away, and refuse only what is not', async () => {
    await service.kill()
    feed.fault = { kind: 'lies', lie: async (_asked, honest) => withoutHistory(await honest()) }
    service = await start()
    const { status, body } = await get('BTC/USD', `interval=1h&from=${Date.now() - 400 * 3_600_000}`)
    assert.equal(status, 200)
    assert.ok(body.data.length >= 400)
    const refused = await get('ETH/USD', 'interval=1h&from=1600000000000&to=1600100000000')
    assert.deepEqual([refused.status, refused.body.code], [502, 'UPSTREAM_UNAVAILABLE'])
    feed.fault = { kind: 'none' }
    await until('it answers again', async () => {
      return (await get('ETH/USD', 'interval=1h&from=1600000000000&to=1600100000000')).status === 200
    })
    await assertExact()
  })
})

/** Returns the minutes with ticks. A closed market does not tick, and its minutes only repeat the close before them. */
function tickedMinutes(minutes: ReadonlyMap<number, Ohlc>): readonly (readonly [number, Ohlc])[] {
  return [...minutes].filter(([timeMs, minute]) => {
    return !isFlat(minute) || minute.close !== (minutes.get(timeMs - MINUTE_MS) ?? minute).close
  })
}

/** Breaks the pages of history and leaves all other answers. */
function withoutHistory(text: string): { status?: number; text: string } {
  return text.includes('"table"') ? { status: 503, text: 'away' } : { text }
}

function textOf({ open, high, low, close }: Ohlc): Omit<Candle, 'time'> {
  const [o, h, l, c] = [open, high, low, close].map((price) => formatDecimal(price, 10))
  return { open: o!, high: h!, low: l!, close: c! }
}
