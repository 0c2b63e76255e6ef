import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDecimal } from '@bezel/protocol/wire'
import fc from 'fast-check'
import { decimal, roundPrice, roundSize } from './decimal.ts'

/** A decimal as text, with the number that it stands for as a fraction of 10^12. */
const decimals = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 12 }))
  .map(([units, places]) => {
    const text = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
    const point = text.length - places
    const sign = units < 0n ? '-' : ''
    const fraction = places === 0 ? '' : `.${text.slice(point)}`
    return { text: sign + text.slice(0, point) + fraction, value: units * 10n ** BigInt(12 - places) }
  })

const valueOf = (text: string, places = 12): bigint => {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const value = BigInt(whole! + fraction.padEnd(places, '0'))
  return text.startsWith('-') ? -value : value
}

describe('arithmetic on decimals', () => {
  it('is exact where floating point is not', () => {
    assert.equal(decimal.add('0.1', '0.2'), '0.3')
    assert.equal(decimal.sub('1', '0.9'), '0.1')
    assert.equal(decimal.mul('60012.01151862', '0.050000000151119765'), '3000.6005850000010778711475243')
    assert.equal(decimal.compare('1.50', '1.5'), 0)
    assert.equal(decimal.compare('-2', '-10'), 1)
  })

  it('gives the sum, the difference, the product and the order of any two, canonically', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        assert.equal(valueOf(decimal.add(a.text, b.text)), a.value + b.value)
        assert.equal(valueOf(decimal.sub(a.text, b.text)), a.value - b.value)
        assert.equal(valueOf(decimal.mul(a.text, b.text), 24), a.value * b.value)
        assert.equal(decimal.compare(a.text, b.text), a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
        for (const text of [decimal.add(a.text, b.text), decimal.sub(a.text, b.text)]) {
          assert.equal(text, parseDecimal(text) ?? text)
        }
      }),
    )
  })

  it('refuses what is no decimal', () => {
    for (const text of ['', '1e5', '0x10', '1,5', 'NaN']) {
      assert.throws(() => decimal.add(text, '1'), { code: 'BAD_AMOUNT' })
    }
    assert.throws(() => roundPrice({ pricePrecision: 2 }, Number.NaN), { code: 'BAD_AMOUNT' })
  })
})

describe('rounding for a market', () => {
  it('takes the nearest price, and of two the farther from zero', () => {
    const market = { pricePrecision: 2 }
    assert.equal(roundPrice(market, '60012.01151862'), '60012.01')
    assert.equal(roundPrice(market, '0.005'), '0.01')
    assert.equal(roundPrice(market, '-0.005'), '-0.01')
    assert.equal(roundPrice(market, '60000.10'), '60000.1')
    assert.equal(roundPrice(market, 60_000.126), '60000.13')
    assert.equal(roundPrice({ pricePrecision: 0 }, '1.5'), '2')
    assert.equal(roundPrice({ pricePrecision: 10 }, 1.2e-7), '0.00000012')
  })

  it('never makes a size larger', () => {
    assert.equal(roundSize({ sizePrecision: 5 }, '0.050000000151119765'), '0.05')
    assert.equal(roundSize({ sizePrecision: 5 }, '0.019999999'), '0.01999')
    assert.equal(roundSize({ sizePrecision: 0 }, '0.99'), '0')
    fc.assert(
      fc.property(decimals, fc.integer({ min: 0, max: 8 }), ({ text, value }, sizePrecision) => {
        const rounded = valueOf(roundSize({ sizePrecision }, text))
        const [abs, whole] = [rounded < 0n ? -rounded : rounded, value < 0n ? -value : value]
        assert.ok(abs <= whole && whole - abs < 10n ** BigInt(12 - sizePrecision))
      }),
    )
  })
})
