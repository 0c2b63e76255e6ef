import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  BaseSize,
  CollateralAmount,
  OrderBookSchema,
  PercentP,
  Price,
  scaleDecimal,
  TokenSize,
  Usd,
  type BookLevel,
  type Decimal,
} from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { packBands } from '../../../devnet/src/deploy/configureDiamond.ts'
import { DEPTH_BAND_OFFSETS_PPM, DEPTH_BAND_SHARES_BPS } from '../../../devnet/src/listing/settings.ts'
import { bookOf as stateOf, type ChainMarkets, type ListedPair } from '../trading/market/chainMarkets.ts'
import { ORDINARY_TERMS, type DepthBook, type PairState, type VolumeState } from '../trading/valuation/chainState.ts'
import { decodeDepthBook } from '../trading/valuation/depthBands.ts'
import { priceOpen } from '../trading/valuation/priceImpact.ts'
import { LISTING, NO_DEPTH } from '../trading/valuation/testing/fixtures.ts'
import { bestPrices, orderBook } from './orderBook.ts'
import { BTC, chainMarkets, usd } from './testing/fixtures.ts'

/** Depth of 1,000 USD: half of it within 100 ppm, the rest within 300 ppm. */
const TWO_BANDS: DepthBook = { totalDepthUsd: 1_000n, sharesBps: [5_000n, 10_000n], offsetsPpm: [100n, 300n] }

/** The bands of BTC on the local chain. */
const LOCAL_BANDS = decodeDepthBook(packBands(DEPTH_BAND_SHARES_BPS, 40_000_000), packBands(DEPTH_BAND_OFFSETS_PPM))

const NO_SPREAD = PercentP.zero

interface Sides {
  readonly above?: DepthBook
  readonly below?: DepthBook
  readonly spreadP?: PercentP
  readonly mark?: bigint
  readonly levels?: number
  readonly volume?: VolumeState
  readonly isExempt?: boolean
  readonly pair?: Partial<PairState>
}

function worldOf({ above = NO_DEPTH, below = NO_DEPTH, volume, isExempt = false, ...of }: Sides): {
  readonly chain: ChainMarkets
  readonly pair: ListedPair
} {
  const factors = { ...LISTING.factors, exemptOnOpen: isExempt }
  const listing = { ...LISTING, depthAbove: above, depthBelow: below, factors, spreadP: of.spreadP ?? LISTING.spreadP }
  const chain = chainMarkets(of.pair)
  return {
    chain: volume === undefined ? chain : { ...chain, volumes: new Map([[0, volume]]) },
    pair: { ...BTC, listing },
  }
}

function bookOf(sides: Sides) {
  const { mark = usd(60_000), levels = 30 } = sides
  const { chain, pair } = worldOf(sides)
  return orderBook(chain, pair, { mark: Price.of(mark), updatedAtMs: 1_234 }, levels)
}

const scaled = (text: string, decimals: number): bigint => scaleDecimal(text as Decimal, decimals)!

const priceOf = (level: BookLevel): bigint => scaled(level.price, 10)

/** Returns the levels without their sizes in tokens. */
const inUsd = (side: readonly BookLevel[]) => side.map(({ size: _size, ...level }) => level)

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

const anySpread = fc.bigInt(0n, 10n ** 10n).map(PercentP.of)

/** Volume of the last hour, in the windows that count and in those that do not. */
const anyVolume: fc.Arbitrary<VolumeState> = fc
  .array(fc.record({ id: fc.nat(9), long: fc.bigInt(0n, 10n ** 7n), short: fc.bigInt(0n, 10n ** 7n) }))
  .map((windows) => ({
    settings: { startTs: 0, windowsDuration: 200, windowsCount: 3 },
    windows: new Map(
      windows.map(({ id, long, short }) => [
        id,
        { oiLongUsd: Usd.of(long * Usd.one), oiShortUsd: Usd.of(short * Usd.one) },
      ]),
    ),
  }))

describe('the book', () => {
  it('shows each band where it begins, outside the spread, best first', () => {
    const book = bookOf({ above: TWO_BANDS, below: { ...TWO_BANDS, totalDepthUsd: 500n } })
    assert.ok(Value.Check(OrderBookSchema, book))
    assert.deepEqual(book, {
      market: 'BTC/USD',
      markPrice: '60000',
      bids: [
        { price: '59988', size: '0.004167500166700006', sizeUsd: '250', cumulativeUsd: '250' },
        { price: '59982', size: '0.0041679170417792', sizeUsd: '250', cumulativeUsd: '500' },
      ],
      asks: [
        { price: '60012', size: '0.008331666999933346', sizeUsd: '500', cumulativeUsd: '500' },
        { price: '60018', size: '0.0083308340831084', sizeUsd: '500', cumulativeUsd: '1000' },
      ],
      timestamp: 1_234,
    })
  })

  it('begins with what a small buy pays: 61839.01 at a mark of 61826.64', () => {
    const { asks } = bookOf({ above: LOCAL_BANDS, mark: usd(61_826.64) })
    assert.equal(Math.round(Number(asks[0]!.price) * 100) / 100, 61_839.01)
  })

  it("begins with the Diamond's own price of a tiny order before skew, whatever was traded before", () => {
    const deep = anyDepth.map((depth) => ({ ...depth, totalDepthUsd: depth.totalDepthUsd + 10n ** 8n }))
    fc.assert(
      fc.property(
        fc.record({ above: deep, below: deep, volume: anyVolume, spreadP: anySpread }),
        fc.bigInt(10n ** 6n, 2n ** 55n),
        (sides, mark) => {
          const { chain, pair } = worldOf(sides)
          const market = {
            listing: pair.listing,
            ...stateOf(chain, 3, 0)!,
            volume: sides.volume,
            terms: ORDINARY_TERMS,
          }
          const pays = (isBuy: boolean): Price =>
            priceOpen(isBuy, CollateralAmount.of(1n), Price.of(mark), market, chain.moment).priceAfterImpact
          const { bids, asks } = bookOf({ ...sides, mark })
          assert.deepEqual([priceOf(bids[0]!), priceOf(asks[0]!)], [pays(false), pays(true)])
          assert.deepEqual(bestPrices(chain, pair, Price.of(mark)), { bid: pays(false), ask: pays(true) })
        },
      ),
    )
  })

  it('is moved by the volume of its own side, and by no skew', () => {
    const oiLongUsd = Usd.of(10_000_000n * Usd.one)
    const volume: VolumeState = {
      settings: { startTs: 0, windowsDuration: 200, windowsCount: 3 },
      windows: new Map([[5, { oiLongUsd, oiShortUsd: Usd.zero }]]),
    }
    const local = { above: LOCAL_BANDS, below: LOCAL_BANDS }
    const [before, after] = [bookOf(local), bookOf({ ...local, volume })]
    assert.ok(priceOf(after.asks[0]!) > priceOf(before.asks[1]!))
    assert.ok(after.asks.every((level, at) => priceOf(level) > priceOf(before.asks[at]!)))
    assert.deepEqual(after.bids, before.bids)
    const skewed = { oiLongToken: TokenSize.of(10n ** 20n), skewDepth: TokenSize.of(10n ** 21n) }
    assert.deepEqual(bookOf({ ...local, pair: skewed }), before)
  })

  it('has one level on each side of a pair without depth: all that may be opened, at the spread', () => {
    const { bids, asks } = bookOf({})
    const level = { sizeUsd: '100000000', cumulativeUsd: '100000000' }
    assert.deepEqual([inUsd(bids), inUsd(asks)], [[{ price: '59988', ...level }], [{ price: '60012', ...level }]])
    assert.deepEqual(inUsd(bookOf({ above: { ...TWO_BANDS, totalDepthUsd: 0n } }).asks), inUsd(asks))
    assert.deepEqual(bookOf({ above: TWO_BANDS, isExempt: true }).asks, asks, 'volume does not move its price')
    assert.equal(asks[0]!.size, BaseSize.format(BaseSize.of((10n ** 26n * 10n ** 10n) / usd(60_012))))
  })

  it('has no more levels than asked for, and the rest of the depth is not in them', () => {
    const { asks } = bookOf({ above: TWO_BANDS, levels: 1 })
    assert.deepEqual(
      asks.map(({ cumulativeUsd }) => cumulativeUsd),
      ['500'],
    )
    for (const above of [TWO_BANDS, NO_DEPTH]) assert.deepEqual(bookOf({ above, levels: 0 }).asks, [])
  })

  it('leaves out a band that adds no depth; the next one begins where that one ends', () => {
    const above = {
      totalDepthUsd: 1_000n,
      sharesBps: [5_000n, 5_000n, 10_000n],
      offsetsPpm: [50n, 100n, 300n],
    }
    assert.deepEqual(inUsd(bookOf({ above, spreadP: NO_SPREAD }).asks), [
      { price: '60000', sizeUsd: '500', cumulativeUsd: '500' },
      { price: '60006', sizeUsd: '500', cumulativeUsd: '1000' },
    ])
    const late = { totalDepthUsd: 1_000n, sharesBps: [0n, 10_000n], offsetsPpm: [100n, 300n] }
    const [first, ...others] = bookOf({ above: late, spreadP: NO_SPREAD }).asks
    assert.deepEqual([first!.cumulativeUsd, others], ['1000', []], 'all of it at the price of a small order')
    assert.equal(first!.price, '60003', 'half of the distance is charged')
  })

  it('makes one level of bands that begin at one price', () => {
    const above = { totalDepthUsd: 1_000n, sharesBps: [2_000n, 5_000n, 10_000n], offsetsPpm: [0n, 100n, 300n] }
    assert.deepEqual(
      inUsd(bookOf({ above, spreadP: NO_SPREAD }).asks).map(({ price: _price, ...level }) => level),
      [
        { sizeUsd: '500', cumulativeUsd: '500' },
        { sizeUsd: '500', cumulativeUsd: '1000' },
      ],
    )
    // At so small a price, 100 ppm away is the same price.
    assert.deepEqual(inUsd(bookOf({ above: TWO_BANDS, mark: 5_000n, spreadP: NO_SPREAD }).asks), [
      { price: '0.0000005', sizeUsd: '1000', cumulativeUsd: '1000' },
    ])
  })

  it('has the 30 bands of the local chain', () => {
    const { asks, bids } = bookOf({ above: LOCAL_BANDS, below: LOCAL_BANDS })
    assert.deepEqual([asks.length, bids.length], [30, 30])
    assert.deepEqual([asks.at(-1)?.cumulativeUsd, bids.at(-1)?.cumulativeUsd], ['40000000', '40000000'])
    for (const [i, { price }] of asks.entries()) {
      const offsetPpm = DEPTH_BAND_OFFSETS_PPM[i - 1] ?? 0
      assert.equal(Number(price), 60_012 + (60_000 * offsetPpm) / 1_000_000)
    }
  })

  it('is strictly ordered away from the mark, never crossed, and adds up', () => {
    const anyLevels = fc.integer({ min: 1, max: 30 })
    fc.assert(
      fc.property(anyDepth, anyDepth, anySpread, anyMark, anyLevels, (above, below, spreadP, mark, levels) => {
        const book = bookOf({ above, below, spreadP, mark, levels })
        assert.ok(Value.Check(OrderBookSchema, book))
        checkSide(book.asks, mark, 1n, levels)
        checkSide(book.bids, mark, -1n, levels)
        if (above.totalDepthUsd > 0n && levels === 30) {
          assert.equal(book.asks.at(-1)!.cumulativeUsd, String(above.totalDepthUsd), 'the last band holds all of it')
        }
      }),
    )
  })

  function checkSide(side: readonly BookLevel[], mark: bigint, direction: bigint, levels: number): void {
    assert.ok(side.length > 0 && side.length <= levels)
    let price = mark
    let sumUsd = 0n
    for (const [at, level] of side.entries()) {
      const distance = (priceOf(level) - price) * direction
      assert.ok(at === 0 ? distance >= 0n : distance > 0n, 'further from the mark')
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
})
