import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { PAIRS } from '../listing/pairs.ts'
import { sleepyPairs } from './markets.ts'
import { MAX_PRICE } from './price.ts'
import { createPrices, type PublishedTick } from './prices.ts'

const THURSDAY = Date.UTC(2026, 10, 12, 15)
const SUNDAY = Date.UTC(2026, 10, 15, 12)

function feedAt(startMs: number, seed = 1) {
  let clockMs = startMs
  const prices = createPrices({ seed, now: () => clockMs })
  const ticks: PublishedTick[] = []
  prices.onTick((tick) => ticks.push(tick))
  const pass = (ms: number) => {
    clockMs += ms
    prices.advance()
  }
  const last = (pairIndex: number) => ticks.at(-1)?.quotes.find((quote) => quote.pairIndex === pairIndex)?.mark
  return { prices, ticks, pass, last }
}

const marks = (ticks: readonly PublishedTick[], pairIndex: number) =>
  ticks.flatMap(({ quotes }) => quotes.filter((quote) => quote.pairIndex === pairIndex).map((quote) => quote.mark))

describe('ticks', () => {
  it('come every 250 ms with the open markets whose price changed, and with no other', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY + 100)
    const before = new Map(PAIRS.map(({ index }) => [index, prices.quote(index)]))
    pass(1_000)
    assert.deepEqual(
      ticks.map(({ timeMs }) => timeMs - THURSDAY),
      [250, 500, 750, 1_000],
    )
    for (const { quotes } of ticks) {
      assert.ok(quotes.length > PAIRS.length / 2 && quotes.length < PAIRS.length)
      for (const quote of quotes) assert.notDeepEqual(quote, before.get(quote.pairIndex))
      for (const quote of quotes) before.set(quote.pairIndex, quote)
    }
    for (const { index } of PAIRS) assert.deepEqual(prices.quote(index), before.get(index), 'nothing was left out')
  })

  it('leave closed markets out, and their price stands', () => {
    const { prices, ticks, pass } = feedAt(SUNDAY)
    const [euro, apple] = [prices.quote(21), prices.quote(58)]
    pass(60_000)
    assert.deepEqual(marks(ticks, 21), [])
    assert.deepEqual([prices.quote(21), prices.quote(58)], [euro, apple])
    assert.ok(prices.isOpen(0) && !prices.isOpen(21) && !prices.isOpen(58))
  })

  it('close at the last price of the session, whenever the feed was started', () => {
    const friday = feedAt(Date.parse('2026-11-13T15:59:59.750-05:00'))
    assert.equal(friday.prices.quote(58).mark, feedAt(SUNDAY).prices.quote(58).mark)
  })

  it('are the same for the same seed and differ for another', () => {
    const [one, same, other] = [feedAt(THURSDAY, 5), feedAt(THURSDAY, 5), feedAt(THURSDAY, 6)]
    for (const feed of [one, same, other]) feed.pass(10_000)
    assert.deepEqual(same.ticks, one.ticks)
    assert.notDeepEqual(other.ticks, one.ticks)
  })

  it('that were missed are made up for, unless the machine slept', () => {
    const { ticks, pass } = feedAt(THURSDAY)
    pass(60_000)
    assert.equal(ticks.length, 240)
    pass(3_600_000)
    assert.equal(ticks.length, 480)
    assert.equal(ticks[240]?.quotes.length, PAIRS.length, 'each may have changed in between')
    assert.equal(ticks.at(-1)?.timeMs, THURSDAY + 3_660_000)
  })

  it('stand still while the clock goes back', () => {
    const { ticks, pass, prices } = feedAt(THURSDAY)
    pass(1_000)
    pass(-5_000)
    prices.setPrice('BTC/USD', '1')
    assert.equal(ticks.at(-1)?.timeMs, THURSDAY + 1_000)
    assert.equal(prices.quote(0).mark, 10_000_000_000n)
  })

  it('end when the listener is removed', () => {
    const { prices, pass } = feedAt(THURSDAY)
    let count = 0
    const stop = prices.onTick(() => (count += 1))
    pass(500)
    stop()
    pass(500)
    assert.equal(count, 2)
  })
})

describe('setPrice', () => {
  it('is exact and published at once', () => {
    const { prices, pass, last } = feedAt(THURSDAY)
    pass(1_100)
    prices.setPrice('ETH/USD', '3123.456789')
    assert.equal(last(1), 31_234_567_890_000n)
    assert.equal(prices.quote(1).mark, 31_234_567_890_000n)
    assert.equal(prices.timeMs(), THURSDAY + 1_100)
  })

  it('lets the walk go on from there', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY)
    prices.setPrice('BTC/USD', '50000')
    pass(60_000)
    const seen = marks(ticks, 0)
    assert.ok(new Set(seen).size > 50)
    for (const mark of seen) assert.ok(mark > 497_000_000_000_000n && mark < 503_000_000_000_000n)
  })

  it('works on a closed market, which then opens near that price', () => {
    const { prices, ticks, pass } = feedAt(Date.parse('2026-11-12T09:34:00-05:00'))
    prices.setPrice('AAPL/USD', '300')
    pass(30_000)
    assert.equal(prices.quote(58).mark, 3_000_000_000_000n)
    assert.deepEqual(marks(ticks, 58), [3_000_000_000_000n])
    pass(30_000)
    const opened = prices.quote(58).mark
    assert.ok(opened !== 3_000_000_000_000n && opened > 2_990_000_000_000n && opened < 3_010_000_000_000n)
  })

  it('refuses what is no market or no price, and changes nothing', () => {
    const { prices, ticks } = feedAt(THURSDAY)
    const before = prices.quote(0)
    assert.throws(() => prices.setPrice('FOO/USD', '1'), /No market is named "FOO\/USD"/)
    assert.throws(() => prices.setPrice('DELISTED4/USD', '1'), /No market is named/)
    assert.throws(() => prices.setPrice('BTC/USD', '0'), /not above zero/)
    assert.throws(() => prices.freeze('btc/usd', true), /No market is named/)
    assert.throws(() => prices.quote(4), /No pair has the index 4/)
    assert.deepEqual(prices.quote(0), before)
    assert.equal(ticks.length, 0)
  })

  it('never leads out of what an oracle can answer', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom('0.0000000001', '0.0000000012', '7205759.4', '7200000'), (seed, price) => {
        const { prices, ticks, pass } = feedAt(THURSDAY, seed)
        prices.setPrice('PEPE/USD', price)
        for (let minute = 0; minute < 10; minute += 1) pass(60_000)
        for (const { quotes } of ticks) {
          for (const { mark, index } of quotes)
            assert.ok(mark > 0n && mark <= MAX_PRICE && index > 0n && index <= MAX_PRICE)
        }
      }),
      { numRuns: 5 },
    )
  })
})

describe('freeze', () => {
  it('keeps ticking one price, and a price set meanwhile is the new one', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY)
    prices.freeze('BTC/USD', true)
    const frozen = prices.quote(0).mark
    pass(2_000)
    assert.deepEqual(new Set(marks(ticks, 0)), new Set([frozen]))
    assert.equal(marks(ticks, 0).length, 9)
    prices.setPrice('BTC/USD', '70000')
    pass(2_000)
    assert.equal(prices.quote(0).mark, 700_000_000_000_000n)
  })

  it('ends without a jump', () => {
    const { prices, pass } = feedAt(THURSDAY)
    prices.setPrice('BTC/USD', '70000')
    prices.freeze('BTC/USD', true)
    pass(50_000)
    prices.freeze('BTC/USD', false)
    pass(500)
    const mark = prices.quote(0).mark
    assert.ok(mark > 699_000_000_000_000n && mark < 701_000_000_000_000n)
  })
})

describe('sleep', () => {
  const AVAX = 102

  it('comes over pairs from index 100 on, or over the last quarter, in every second five minutes', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY)
    const silent = new Set(PAIRS.map(({ index }) => index))
    for (let minute = 0; minute < 5; minute += 1) pass(60_000)
    for (const { timeMs, quotes } of ticks) {
      if (timeMs > THURSDAY + 250) for (const { pairIndex } of quotes) silent.delete(pairIndex)
    }
    const asleep = PAIRS.filter(({ index }) => index >= 100 && index % 2 === (THURSDAY / 300_000 + 1) % 2)
    assert.deepEqual(
      [...silent],
      asleep.map(({ index }) => index),
    )
    assert.ok(prices.isOpen(asleep[0]!.index), 'a sleeping market is open')
    const quarter = sleepyPairs(PAIRS.slice(0, 10))
    assert.deepEqual([...quarter], PAIRS.slice(8, 10))
  })

  it('sent by the control lasts until the market is woken, also when it is frozen', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY)
    prices.freeze('BTC/USD', true)
    prices.sleep('BTC/USD', true)
    const { mark } = prices.quote(0)
    const count = ticks.length
    pass(60_000)
    assert.deepEqual(marks(ticks.slice(count), 0), [])
    assert.equal(prices.quote(0).mark, mark)
    prices.sleep('BTC/USD', false)
    pass(1_000)
    assert.deepEqual(marks(ticks.slice(count), 0), [mark, mark, mark, mark, mark], 'told at once, and frozen as before')
  })

  it('ends without a jump, and a woken market has no naps', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY)
    prices.sleep('AVAX/USD', true)
    const { mark } = prices.quote(AVAX)
    for (let minute = 0; minute < 10; minute += 1) pass(60_000)
    assert.equal(prices.quote(AVAX).mark, mark)
    prices.sleep('AVAX/USD', false)
    assert.equal(marks(ticks, AVAX).at(-1), mark)
    for (let minute = 0; minute < 10; minute += 1) {
      const count = ticks.length
      pass(60_000)
      assert.ok(marks(ticks.slice(count), AVAX).length > 100)
    }
  })

  it('does not keep a price that is set from being published, and the price stands there', () => {
    const { prices, pass, last } = feedAt(THURSDAY)
    prices.sleep('AVAX/USD', true)
    prices.setPrice('AVAX/USD', '20')
    assert.equal(last(AVAX), 200_000_000_000n)
    pass(60_000)
    assert.equal(prices.quote(AVAX).mark, 200_000_000_000n)
  })

  it('is known to the oracle and to the charts as the price that stands', () => {
    const { prices, pass } = feedAt(THURSDAY)
    prices.sleep('AVAX/USD', true)
    pass(60_000)
    const { mark } = prices.quote(AVAX)
    const flat = { open: mark, high: mark, low: mark }
    assert.deepEqual(prices.candleSince(AVAX, THURSDAY + 1_000).mark, { ...flat, current: mark })
    const [candle] = prices.candles(AVAX, { fromMs: THURSDAY + 60_000, toMs: THURSDAY + 60_000, minutes: 1 })
    assert.deepEqual(candle, { timeMs: THURSDAY + 60_000, ...flat, close: mark })
  })
})

describe('setMarketOpen', () => {
  it('opens a closed market and gives it back to its hours', () => {
    const { prices, ticks, pass } = feedAt(SUNDAY)
    prices.setMarketOpen('EUR/USD', true)
    pass(1_000)
    assert.ok(prices.isOpen(21))
    const { length } = marks(ticks, 21)
    assert.ok(length > 1 && length <= 5)
    prices.setMarketOpen('EUR/USD', null)
    pass(1_000)
    assert.ok(!prices.isOpen(21))
    assert.equal(marks(ticks, 21).length, length)
  })

  it('holds at once, also between two ticks', () => {
    const { prices, pass } = feedAt(THURSDAY)
    pass(1_100)
    prices.setMarketOpen('BTC/USD', false)
    assert.ok(!prices.isOpen(0))
  })

  it('closes an open one, whose price then stands', () => {
    const { prices, ticks, pass } = feedAt(THURSDAY)
    prices.setMarketOpen('BTC/USD', false)
    const held = prices.quote(0).mark
    pass(5_000)
    assert.ok(!prices.isOpen(0))
    assert.deepEqual(marks(ticks, 0), [])
    assert.equal(prices.quote(0).mark, held)
  })
})

describe('candleSince', () => {
  it('begins with the price in force at that time', () => {
    const { prices, pass } = feedAt(THURSDAY)
    pass(10_000)
    prices.setPrice('BTC/USD', '60000')
    pass(100)
    assert.equal(prices.candleSince(0, THURSDAY + 10_050).mark.high, 600_000_000_000_000n)
    assert.equal(prices.candleSince(0, THURSDAY + 10_000).mark.low, 600_000_000_000_000n)
    assert.ok(prices.candleSince(0, THURSDAY + 9_999).mark.high > 600_000_000_000_000n)
  })

  it('answers for the future, the distant past and a closed market', () => {
    const { prices } = feedAt(SUNDAY)
    const { mark } = prices.quote(21)
    const flat = { open: mark, high: mark, low: mark, current: mark }
    assert.deepEqual(prices.candleSince(0, SUNDAY + 1e9).mark.open, prices.quote(0).mark)
    assert.deepEqual(prices.candleSince(21, SUNDAY - 1_000).mark, flat)
    assert.ok(prices.candleSince(0, 0).mark.low > 0n)
  })
})

describe('start', () => {
  it('ticks by itself until stopped', async () => {
    const startMs = Date.now()
    const prices = createPrices({ seed: 1, now: Date.now })
    const first = await new Promise<PublishedTick>((resolve) => {
      prices.onTick(resolve)
      prices.start()
      prices.start()
    })
    assert.ok(first.timeMs >= startMs - 1_000 && first.timeMs <= Date.now())
    prices.stop()
  })
})
