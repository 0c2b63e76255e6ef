import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Usd } from '@bezel/protocol'
import fc from 'fast-check'
import { packBands } from '../../../../devnet/src/deploy/configureDiamond.ts'
import { DEPTH_BAND_OFFSETS_PPM, DEPTH_BAND_SHARES_BPS } from '../../../../devnet/src/listing/settings.ts'
import type { DepthBook } from './chainState.ts'
import { averageImpactP, decodeDepthBook } from './depthBands.ts'

const USD = 10n ** 18n

const PPM = 10n ** 6n

/** A depth of 1000 USD: half within 100 ppm, the rest within 300 ppm. */
const TWO_BANDS: DepthBook = { totalDepthUsd: 1_000n, sharesBps: [5_000n, 10_000n], offsetsPpm: [100n, 300n] }

describe('depth bands', () => {
  it('decodes what the deployment packs', () => {
    const book = decodeDepthBook(packBands(DEPTH_BAND_SHARES_BPS, 4_294_967_295), packBands(DEPTH_BAND_OFFSETS_PPM))
    assert.equal(book.totalDepthUsd, 4_294_967_295n)
    assert.deepEqual(book.sharesBps, DEPTH_BAND_SHARES_BPS.map(BigInt))
    assert.deepEqual(book.offsetsPpm, DEPTH_BAND_OFFSETS_PPM.map(BigInt))
  })

  it('inside the first band the average is half of the way', () => {
    assert.equal(averageImpactP(TWO_BANDS, Usd.of(500n * USD)), 50n * PPM)
    assert.equal(averageImpactP(TWO_BANDS, Usd.of(250n * USD)), 25n * PPM)
  })

  it('through both bands it is weighted by the amounts', () => {
    // 500 USD at 50 ppm, 500 USD at 200 ppm
    assert.equal(averageImpactP(TWO_BANDS, Usd.of(1_000n * USD)), 125n * PPM)
  })

  it('the last band takes everything beyond the depth, at its own slope', () => {
    // 500 USD at 50 ppm, 1500 USD in a band of 500 USD: 100 + 200 x 3 / 2 = 400 ppm
    assert.equal(averageImpactP(TWO_BANDS, Usd.of(2_000n * USD)), 312_500_000n)
  })

  it('a band without depth of its own is skipped, and the next one starts at its offset', () => {
    const book = { totalDepthUsd: 1_000n, sharesBps: [0n, 10_000n], offsetsPpm: [100n, 300n] }
    assert.equal(averageImpactP(book, Usd.of(1_000n * USD)), 200n * PPM)
  })

  it('nothing moves a pair without depth, and nothing moves nothing', () => {
    assert.equal(averageImpactP({ ...TWO_BANDS, totalDepthUsd: 0n }, Usd.of(USD)), 0n)
    assert.equal(averageImpactP(TWO_BANDS, Usd.zero), 0n)
  })

  it('never falls by more than its rounding when the amount grows', () => {
    const book = decodeDepthBook(packBands(DEPTH_BAND_SHARES_BPS, 859_289), packBands(DEPTH_BAND_OFFSETS_PPM))
    const amounts = fc.bigInt(1n, 2_000_000n * USD)
    fc.assert(
      fc.property(amounts, amounts, (a, b) => {
        const [less, more] = a < b ? [a, b] : [b, a]
        assert.ok(averageImpactP(book, Usd.of(less)) <= averageImpactP(book, Usd.of(more)) + 1n)
      }),
    )
  })
})
