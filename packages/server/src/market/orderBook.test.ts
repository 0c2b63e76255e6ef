import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OrderBookSchema, Price, scaleDecimal, Usd, type BookLevel, type Decimal } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { packBands } from '../../../devnet/src/deploy/configureDiamond.ts'
import { DEPTH_BAND_OFFSETS_PPM, DEPTH_BAND_SHARES_BPS } from '../../../devnet/src/listing/settings.ts'
import type { DepthBook } from '../trading/valuation/chainState.ts'
import { averageImpactP, decodeDepthBook } from '../trading/valuation/depthBands.ts'
import { LISTING, NO_DEPTH } from '../trading/valuation/testing/fixtures.ts'
import { orderBook } from './orderBook.ts'
import { symbol, usd } from './testing/fixtures.ts'

const USD = 10n ** 18n

const PPM_TO_P = 10n ** 6n

/** Depth of 1,000 USD: half of it within 100 ppm, the rest within 300 ppm. */
const TWO_BANDS: DepthBook = { totalDepthUsd: 1_000n, sharesBps: [5_000n, 10_000n], offsetsPpm: [100n, 300n] }

interface Sides {
  readonly above?: DepthBook
  readonly below?: DepthBook
  readonly mark?: bigint
  readonly levels?: number
}

function bookOf({ above = NO_DEPTH, below = NO_DEPTH, mark = usd(60_000), levels = 30 }: Sides) {
  const listing = { ...LISTING, depthAbove: above, depthBelow: below }
  return orderBook({ symbol: symbol('BTC/USD'), listing }, { mark: Price.of(mark), updatedAtMs: 1_234 }, levels)
}

const scaled = (text: string, decimals: number): bigint => scaleDecimal(text as Decimal, decimals)!

const priceOf = (level: BookLevel): bigint => scaled(level.price, 10)

/** Bands as the Diamond accepts them, and worse: shares and offsets that do not grow. */
const anyDepth: fc.Arbitrary<DepthBook> = fc
  .record({
    total: fc.bigInt(0n, 2n ** 32n - 1n),
    shares: fc.array(fc.bigInt(0n, 10_000n), { minLength: 30, maxLength: 30 }),
    offsets: fc.array(fc.bigInt(0n, 65_535n), { minLength: 30, maxLength: 30 }),
  })
  .map(({ total, shares, offsets }) => ({
    totalDepthUsd: total,
    sharesBps: [...ascending(shares).slice(0, 29), 10_000n],
    offsetsPpm: ascending(offsets),
  }))

function ascending(values: readonly bigint[]): bigint[] {
  return values.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
}

const anyMark = fc.oneof(fc.bigInt(1n, 10n ** 6n), fc.bigInt(1n, 2n ** 60n))

describe('the virtual order book', () => {
  it('shows each band at its distance from the mark, best first', () => {
    const book = bookOf({ above: TWO_BANDS, below: { ...TWO_BANDS, totalDepthUsd: 500n } })
    assert.ok(Value.Check(OrderBookSchema, book))
    assert.deepEqual(book, {
      market: 'BTC/USD',
      markPrice: '60000',
      bids: [
        { price: '59994', size: '0.004167083375004167', sizeUsd: '250', cumulativeUsd: '250' },
        { price: '59982', size: '0.0041679170417792', sizeUsd: '250', cumulativeUsd: '500' },
      ],
      asks: [
        { price: '60006', size: '0.008332500083325', sizeUsd: '500', cumulativeUsd: '500' },
        { price: '60018', size: '0.0083308340831084', sizeUsd: '500', cumulativeUsd: '1000' },
      ],
      timestamp: 1_234,
    })
  })

  it('has no sides without depth', () => {
    const { bids, asks } = bookOf({})
    assert.deepEqual([bids, asks], [[], []])
    assert.deepEqual(bookOf({ above: { ...TWO_BANDS, totalDepthUsd: 0n } }).asks, [])
  })

  it('has no more levels than asked for, and the rest of the depth is not in them', () => {
    const { asks } = bookOf({ above: TWO_BANDS, levels: 1 })
    assert.deepEqual(
      asks.map(({ cumulativeUsd }) => cumulativeUsd),
      ['500'],
    )
  })

  it('leaves out a band that adds no depth', () => {
    const above = {
      totalDepthUsd: 1_000n,
      sharesBps: [0n, 5_000n, 5_000n, 10_000n],
      offsetsPpm: [50n, 100n, 200n, 300n],
    }
    assert.deepEqual(bookOf({ above }), bookOf({ above: TWO_BANDS }))
  })

  it('makes one level of bands that end at one price', () => {
    const above = { totalDepthUsd: 1_000n, sharesBps: [2_000n, 5_000n, 10_000n], offsetsPpm: [100n, 100n, 300n] }
    assert.deepEqual(bookOf({ above }), bookOf({ above: TWO_BANDS }))
    // At so small a price, 100 and 300 ppm away give the same price.
    const tiny = bookOf({ above: TWO_BANDS, below: TWO_BANDS, mark: 10_000n })
    const level = { sizeUsd: '1000', cumulativeUsd: '1000' }
    assert.deepEqual(
      tiny.asks.map(({ size: _size, ...rest }) => rest),
      [
        { price: '0.0000010001', sizeUsd: '500', cumulativeUsd: '500' },
        { price: '0.0000010003', sizeUsd: '500', cumulativeUsd: '1000' },
      ],
    )
    const tinier = bookOf({ above: TWO_BANDS, below: TWO_BANDS, mark: 5_000n })
    assert.deepEqual(
      tinier.asks.map(({ size: _size, ...rest }) => rest),
      [{ price: '0.0000005001', ...level }],
    )
    assert.deepEqual(
      tinier.bids.map(({ size: _size, ...rest }) => rest),
      [{ price: '0.0000004999', ...level }],
    )
  })

  it('puts depth at the mark itself into the first level beyond it', () => {
    const above = { totalDepthUsd: 1_000n, sharesBps: [2_000n, 5_000n, 10_000n], offsetsPpm: [0n, 100n, 300n] }
    assert.deepEqual(bookOf({ above }), bookOf({ above: TWO_BANDS }))
    assert.deepEqual(bookOf({ above: { ...above, offsetsPpm: [0n, 0n, 0n] } }).asks, [], 'volume moves no price')
  })

  it('has the 30 bands of the local chain', () => {
    const depth = decodeDepthBook(packBands(DEPTH_BAND_SHARES_BPS, 859_289), packBands(DEPTH_BAND_OFFSETS_PPM))
    const { asks, bids } = bookOf({ above: depth, below: depth })
    assert.deepEqual([asks.length, bids.length], [30, 30])
    assert.deepEqual([asks.at(-1)?.cumulativeUsd, bids.at(-1)?.cumulativeUsd], ['859289', '859289'])
    assert.deepEqual([asks.at(-1)?.price, bids.at(-1)?.price], ['60600', '59400'])
  })

  it('is strictly ordered away from the mark, and adds up', () => {
    fc.assert(
      fc.property(anyDepth, anyDepth, anyMark, fc.integer({ min: 1, max: 30 }), (above, below, mark, levels) => {
        const book = bookOf({ above, below, mark, levels })
        assert.ok(Value.Check(OrderBookSchema, book))
        checkSide(book.asks, mark, 1n, levels)
        checkSide(book.bids, mark, -1n, levels)
      }),
    )
  })

  function checkSide(side: readonly BookLevel[], mark: bigint, direction: bigint, levels: number): void {
    assert.ok(side.length <= levels)
    let price = mark
    let sumUsd = 0n
    for (const level of side) {
      assert.ok((priceOf(level) - price) * direction > 0n, 'further from the mark')
      price = priceOf(level)
      const sizeUsd = scaled(level.sizeUsd, 18)
      sumUsd += sizeUsd
      assert.ok(sizeUsd > 0n)
      assert.equal(scaled(level.cumulativeUsd, 18), sumUsd)
      const size = scaled(level.size, 18)
      assert.ok(size * price <= sizeUsd * 10n ** 10n, 'never more than there is')
      assert.ok((size + 1n) * price > sizeUsd * 10n ** 10n, 'and less by no more than the last digit')
    }
  }

  /**
   * Returns the average price impact of taking all these levels, computed from the levels alone: each is taken half way
   * between its two ends.
   */
  function impactByLevels(side: readonly BookLevel[], offsetOf: ReadonlyMap<string, bigint>): bigint {
    let weighted = 0n
    let offsetBefore = 0n
    let taken = 0n
    for (const { price, sizeUsd } of side) {
      const offset = offsetOf.get(price)! * PPM_TO_P
      const amount = scaled(sizeUsd, 18)
      weighted += (offsetBefore + (offset - offsetBefore) / 2n) * amount
      taken += amount
      offsetBefore = offset
    }
    return weighted / taken
  }

  it('costs, level by level, what the Diamond charges for taking its cumulative depth', () => {
    const strict = fc.uniqueArray(fc.integer({ min: 1, max: 9_999 }), { minLength: 29, maxLength: 29 })
    const offsets = fc.uniqueArray(fc.integer({ min: 1, max: 65_535 }), { minLength: 30, maxLength: 30 })
    fc.assert(
      fc.property(strict, offsets, fc.bigInt(1n, 2n ** 32n - 1n), fc.boolean(), (shares, ppm, total, isAbove) => {
        const depth: DepthBook = {
          totalDepthUsd: total,
          sharesBps: [...ascending(shares.map(BigInt)), 10_000n],
          offsetsPpm: ascending(ppm.map(BigInt)),
        }
        const mark = usd(60_000)
        const book = bookOf(isAbove ? { above: depth, mark } : { below: depth, mark })
        const side = isAbove ? book.asks : book.bids
        const offsetOf = new Map(side.map((level, i) => [level.price, depth.offsetsPpm[i]!]))
        for (const [i, level] of side.entries()) {
          const distance = (priceOf(level) - mark) * (isAbove ? 1n : -1n)
          assert.equal(distance, (mark * depth.offsetsPpm[i]!) / 10n ** 6n)
          const charged = averageImpactP(depth, Usd.of(scaled(level.cumulativeUsd, 18)))
          assert.equal(impactByLevels(side.slice(0, i + 1), offsetOf), charged)
        }
        assert.equal(side.at(-1)?.cumulativeUsd, String(total), 'the last band holds all of it')
        assert.equal(scaled(side.at(-1)!.cumulativeUsd, 18), total * USD)
      }),
    )
  })
})
