import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseFeedNumber, scaleDecimal } from '@bezel/protocol'
import fc from 'fast-check'
import { FeedInputError, MAX_PRICE, parseFeedPrice, priceNumber, quotedPrice } from './price.ts'

const anyPrice = fc.bigInt({ min: 1n, max: MAX_PRICE })

describe('parsePrice', () => {
  it('reads decimals', () => {
    assert.equal(parseFeedPrice('65000.5'), 650_005_000_000_000n)
    assert.equal(parseFeedPrice('0.0000000001'), 1n)
    assert.equal(parseFeedPrice('7205759.4'), 72_057_594_000_000_000n)
  })

  it('refuses everything else with a sentence that says why', () => {
    const cases: [string, RegExp][] = [
      ['', /decimal string/],
      ['1e5', /decimal string/],
      ['abc', /decimal string/],
      ['01', /decimal string/],
      [' 1', /decimal string/],
      ['0', /not above zero/],
      ['-5', /not above zero/],
      ['0.00000000001', /more than 10 decimals/],
      ['7205760', /above 7205759\.4/],
      ['1234567.1234567891', /more than 15 digits/],
    ]
    for (const [text, sentence] of cases) {
      assert.throws(
        () => parseFeedPrice(text),
        (error) => error instanceof FeedInputError && sentence.test(error.message),
        text,
      )
    }
    assert.throws(() => parseFeedPrice(65000 as never), FeedInputError)
  })
})

describe('quotedPrice', () => {
  it('shows seven digits, and always cents', () => {
    assert.equal(quotedPrice(650_001_234_567_890n), 650_001_200_000_000n)
    assert.equal(quotedPrice(11_601_234_567n), 11_601_230_000n)
    assert.equal(quotedPrice(12_345_678_912_345_678n), 12_345_678_900_000_000n)
    assert.equal(quotedPrice(52_345n), 52_345n)
  })

  it('stays within what an oracle can answer', () => {
    assert.equal(quotedPrice(0n), 1n)
    assert.equal(quotedPrice(MAX_PRICE * 2n), 72_057_594_000_000_000n)
  })

  it('keeps the order of prices, which candles rest on', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a]
        assert.ok(quotedPrice(low) <= quotedPrice(high))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('priceNumber', () => {
  it('comes back from JSON as the same price', () => {
    fc.assert(
      fc.property(anyPrice, (any) => {
        const price = quotedPrice(any)
        const read = parseFeedNumber(JSON.parse(JSON.stringify(priceNumber(price))) as number)!
        assert.equal(scaleDecimal(read, 10), price)
      }),
      { numRuns: 2_000 },
    )
  })

  it('does so for every price that can be set by hand', () => {
    const byHand = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.nat({ max: 2 }))
    fc.assert(
      fc.property(byHand, ([digits, zeros]) => {
        const price = digits * 10n ** BigInt(zeros)
        fc.pre(price <= MAX_PRICE)
        assert.equal(scaleDecimal(parseFeedNumber(priceNumber(price))!, 10), price)
      }),
      { numRuns: 2_000 },
    )
  })
})
