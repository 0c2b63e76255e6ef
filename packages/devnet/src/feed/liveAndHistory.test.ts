import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatDecimal } from '@bezel/protocol'
import fc from 'fast-check'
import { PAIRS } from '../listing/pairs.ts'
import { CANDLE_MINUTES, type FeedCandle } from './candles.ts'
import { flatFeedOhlc, joinFeedOhlc, type FeedOhlc } from './timeline.ts'
import { createPrices, type Prices } from './prices.ts'

/** One market of each session, and one whose index has a basis and whose price has naps. */
const SYMBOLS = ['BTC/USD', 'EUR/USD', 'AAPL/USD', 'XAU/USD', 'PEPE/USD']

const MARKETS = PAIRS.filter((pair) => SYMBOLS.includes(`${pair.from}/${pair.to}`))

const MINUTE_MS = 60_000

/** Everything that a client which listens from the beginning received. */
interface Recording {
  readonly prices: Prices
  readonly startMs: number
  readonly startPrices: ReadonlyMap<number, bigint>
  readonly told: ReadonlyMap<number, { timeMs: number; mark: bigint; index: bigint }[]>
  /** Moves the clock and publishes what is due. */
  pass(ms: number): void
}

function record(startMs: number, seed = 1): Recording {
  let clockMs = startMs - 250
  const prices = createPrices({ seed, now: () => clockMs, pairs: MARKETS })
  const told = new Map(MARKETS.map(({ index }) => [index, [] as { timeMs: number; mark: bigint; index: bigint }[]]))
  prices.onTick(({ timeMs, quotes }) => {
    for (const { pairIndex, mark, index } of quotes) told.get(pairIndex)!.push({ timeMs, mark, index })
  })
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 30_000) {
      clockMs += Math.min(left, 30_000)
      prices.advance()
    }
  }
  const startPrices = new Map(MARKETS.map(({ index }) => [index, prices.quote(index).mark]))
  pass(250)
  return { prices, startMs, startPrices, told, pass }
}

/** Builds candles as a service does: from ticks alone, with the last close carried over a gap. */
function builtCandles(recording: Recording, pairIndex: number, minutes: number): FeedCandle[] {
  const widthMs = minutes * MINUTE_MS
  const byTime = new Map<number, FeedOhlc>()
  for (const { timeMs, mark } of recording.told.get(pairIndex)!) {
    const candleMs = timeMs - (timeMs % widthMs)
    byTime.set(candleMs, joinFeedOhlc(byTime.get(candleMs), flatFeedOhlc(mark)))
  }
  const candles: FeedCandle[] = []
  let close = recording.startPrices.get(pairIndex)!
  for (let timeMs = recording.startMs; timeMs <= recording.prices.timeMs(); timeMs += widthMs) {
    const ohlc = byTime.get(timeMs) ?? flatFeedOhlc(close)
    candles.push({ timeMs, ...ohlc })
    close = ohlc.close
  }
  return candles
}

function assertHistoryEqualsLive(recording: Recording, widths: readonly number[]): void {
  for (const { index } of MARKETS) {
    for (const minutes of widths) {
      const range = { fromMs: recording.startMs, toMs: Infinity, minutes }
      assert.deepEqual(
        recording.prices.candles(index, range),
        builtCandles(recording, index, minutes),
        `${index}, ${minutes} m`,
      )
    }
  }
}

function assertLookback(recording: Recording, pairIndex: number, fromMs: number): void {
  const told = recording.told.get(pairIndex)!
  const before = told.findLast(({ timeMs }) => timeMs <= fromMs)?.mark ?? recording.startPrices.get(pairIndex)!
  let ohlc = flatFeedOhlc(before)
  for (const { timeMs, mark } of told) if (timeMs > fromMs) ohlc = joinFeedOhlc(ohlc, flatFeedOhlc(mark))
  const { open, high, low, close: current } = ohlc
  assert.deepEqual(recording.prices.candleSince(pairIndex, fromMs).mark, { open, high, low, current })
}

const control = fc.oneof(
  fc.record({ kind: fc.constant('price' as const), at: fc.nat(4), price: fc.bigInt({ min: 1n, max: 10n ** 14n }) }),
  fc.record({ kind: fc.constant('freeze' as const), at: fc.nat(4), frozen: fc.boolean() }),
  fc.record({ kind: fc.constant('sleep' as const), at: fc.nat(4), asleep: fc.boolean() }),
  fc.record({ kind: fc.constant('open' as const), at: fc.nat(4), open: fc.constantFrom(true, false, null) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1_200_000 }) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 600 }) }),
)

type Step = typeof control extends fc.Arbitrary<infer T> ? T : never

function take(recording: Recording, step: Step): void {
  const { prices } = recording
  if (step.kind === 'pass') return recording.pass(step.ms)
  const symbol = SYMBOLS[step.at]!
  if (step.kind === 'price') prices.setPrice(symbol, formatDecimal(step.price, 8))
  if (step.kind === 'freeze') prices.freeze(symbol, step.frozen)
  if (step.kind === 'sleep') prices.sleep(symbol, step.asleep)
  if (step.kind === 'open') prices.setMarketOpen(symbol, step.open)
}

/**
 * Minutes around changes of the hours: a Friday close, a Sunday opening, the daily break, a stock opening, a holiday.
 */
const start = fc.constantFrom(
  Date.UTC(2026, 10, 13, 20),
  Date.UTC(2026, 10, 15, 20),
  Date.UTC(2026, 10, 17, 20),
  Date.UTC(2026, 10, 18, 12),
  Date.UTC(2026, 11, 25, 4),
)

describe('live prices and history', () => {
  it('agree over a day with no control used, at every width', () => {
    const recording = record(Date.UTC(2026, 10, 13))
    recording.pass(24 * 3_600_000)
    assertHistoryEqualsLive(recording, CANDLE_MINUTES)
    const told = (pairIndex: number) => recording.told.get(pairIndex)!
    const day = 24 * 3600 * 4
    assert.ok(told(0).length > day * 0.9 && told(0).length <= day + 1, 'a price that changes with nearly every tick')
    assert.ok(told(58).length <= 385 * 60 * 4 && told(58).length > 385 * 60 * 3, 'stocks tick from 09:35 to 16:00')
    assert.ok(told(134).length < day / 2, 'asleep for half of the day')
    for (const { index } of MARKETS) {
      for (const [at, { mark }] of told(index).entries()) if (at > 0) assert.notEqual(mark, told(index)[at - 1]!.mark)
    }
  })

  it('agree whatever controls are used, and so does every lookback', () => {
    fc.assert(
      fc.property(
        start,
        fc.nat(),
        fc.array(control, { minLength: 1, maxLength: 25 }),
        fc.nat(),
        (startMs, seed, steps, back) => {
          const recording = record(startMs, seed)
          for (const step of steps) take(recording, step)
          assertHistoryEqualsLive(recording, [1, 5, 15, 30, 60, 240])
          const livedMs = recording.prices.timeMs() - startMs
          for (const { index } of MARKETS) assertLookback(recording, index, startMs + (back % (livedMs + 1)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('show an override in the candles of its time only, and go on from it', () => {
    const startMs = Date.UTC(2026, 10, 12, 15)
    const recording = record(startMs)
    recording.pass(10 * MINUTE_MS)
    recording.prices.setPrice('BTC/USD', '100000')
    recording.pass(10 * MINUTE_MS)
    const candles = recording.prices.candles(0, { fromMs: startMs, toMs: Infinity, minutes: 5 })
    assert.ok(candles[1]!.high < 800_000_000_000_000n)
    assert.equal(recording.prices.candleSince(0, startMs + 10 * MINUTE_MS).mark.open, 1_000_000_000_000_000n)
    assert.ok(candles[3]!.low > 990_000_000_000_000n && candles[3]!.high < 1_010_000_000_000_000n)
    const untouched = createPrices({ seed: 1, now: () => startMs, pairs: MARKETS })
    const past = { fromMs: startMs - 3_600_000, toMs: startMs - 1, minutes: 5 }
    assert.deepEqual(recording.prices.candles(0, past), untouched.candles(0, past))
  })

  it('keep the index in step with the mark', () => {
    const recording = record(Date.UTC(2026, 10, 12, 15))
    recording.pass(MINUTE_MS)
    for (const { pairIndex, mark, index } of MARKETS.map((pair) => recording.prices.quote(pair.index))) {
      if (pairIndex === 134) assert.ok(index < mark && index * 10_000n > mark * 9_990n)
      else assert.equal(index, mark)
    }
    const since = recording.prices.candleSince(134, recording.startMs)
    const told = recording.told.get(134)!.map(({ index }) => index)
    assert.equal(
      since.index.high,
      told.reduce((a, b) => (a > b ? a : b)),
    )
    assert.equal(
      since.index.low,
      told.reduce((a, b) => (a < b ? a : b)),
    )
  })
})
