import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatAge,
  formatAmount,
  formatDuration,
  formatPercent,
  formatPrice,
  isPositiveDecimal,
  normaliseDecimal,
  shortAddress,
  shortHash,
  signOf,
} from './format.ts'

/** Returns a text with the separators of this machine's locale written as those of English, for comparison. */
function english(text: string): string {
  const parts = new Intl.NumberFormat().formatToParts(12345.6)
  const group = parts.find(({ type }) => type === 'group')?.value ?? ','
  const point = parts.find(({ type }) => type === 'decimal')?.value ?? '.'
  return text.replaceAll(group, '\0').replaceAll(point, '.').replaceAll('\0', ',').replaceAll('\u00a0', ' ')
}

describe('formatPrice', () => {
  it('has two decimals for large prices and significant digits for small ones', () => {
    assert.equal(english(formatPrice('64123.456789')), '64,123.45')
    assert.equal(english(formatPrice('1.08345')), '1.08345')
    assert.equal(english(formatPrice('0.00012345678')), '0.00012345')
  })

  it('keeps the zeros at the end, so that digits never jump', () => {
    assert.equal(english(formatPrice('150')), '150.000')
    assert.equal(english(formatPrice('0.132')), '0.13200')
    assert.equal(english(formatPrice('0.00000878')), '0.0000087800')
    assert.equal(english(formatPrice('60000')), '60,000.00')
  })

  it("keeps the market's decimals, so that digits never jump", () => {
    assert.equal(english(formatPrice('64123.4', { precision: 2 })), '64,123.40')
    assert.equal(english(formatPrice('64123', { precision: 3 })), '64,123.000')
  })

  it('shows a text that is no number as it is', () => {
    assert.equal(formatPrice('-'), '-')
    assert.equal(formatPrice(''), '')
  })
})

describe('formatAmount', () => {
  it('trims an amount of a token with 18 decimals, toward zero', () => {
    assert.equal(english(formatAmount('1234.999999999999999999')), '1,234.99')
    assert.equal(english(formatAmount('0.000123456789012345')), '0.0001234')
  })

  it('loses no digit of an amount beyond the range of floats', () => {
    assert.equal(english(formatAmount('123456789012345678901.25')), '123,456,789,012,345,678,901.25')
  })

  it('writes the symbol behind a gap that does not break, and the sign of a gain', () => {
    assert.equal(english(formatAmount('5', { symbol: 'USDC', sign: true })), '+5.00 USDC')
    assert.equal(english(formatAmount('-5', { symbol: 'USDC', sign: true })), '\u22125.00 USDC')
    assert.ok(formatAmount('5', { symbol: 'USDC' }).endsWith('\u00a0USDC'))
  })

  it('counts dollars in cents, unless there is less than one', () => {
    assert.equal(english(formatAmount('0.773769', { symbol: 'USDC' })), '0.77 USDC')
    assert.equal(english(formatAmount('-0.0179', { symbol: 'DAI' })), '\u22120.01 DAI')
    assert.equal(english(formatAmount('0.000009', { symbol: 'USDC' })), '0.000009 USDC')
    assert.equal(english(formatAmount('0.123456', { symbol: 'WETH' })), '0.1234 WETH')
  })

  it('gives nothing that is cut to zero a sign', () => {
    assert.equal(english(formatAmount('0.001', { decimals: 2, sign: true })), '0.00')
    assert.equal(english(formatAmount('-0.001', { decimals: 2, sign: true })), '0.00')
    assert.equal(english(formatAmount('0', { sign: true })), '0.00')
  })

  it('takes the number of decimals', () => {
    assert.equal(english(formatAmount('12.3456', { decimals: 0 })), '12')
    assert.equal(english(formatAmount('12.3456', { decimals: 4 })), '12.3456')
    assert.equal(english(formatAmount('12.3', { decimals: 6 })), '12.30')
    assert.equal(english(formatAmount('12.3', { decimals: 6, fixed: true })), '12.300000')
  })
})

describe('formatPercent', () => {
  it('shows a fraction as percent', () => {
    assert.equal(english(formatPercent('0.0123')), '1.23 %')
    assert.equal(english(formatPercent('1')), '100.00 %')
    assert.equal(english(formatPercent('-0.5', { sign: true })), '\u221250.00 %')
    assert.equal(english(formatPercent('0.00004', { sign: true })), '0.00 %')
    assert.equal(english(formatPercent('0.00004', { digits: 4, sign: true })), '+0.0040 %')
    assert.equal(english(formatPercent('.5', { digits: 0 })), '50 %')
  })
})

describe('formatAge and formatDuration', () => {
  it('uses the greatest unit', () => {
    assert.equal(formatDuration(45_900), '45 s')
    assert.equal(formatDuration(61_000), '1 min')
    assert.equal(formatDuration(7_200_000), '2 h')
    assert.equal(formatDuration(5 * 86_400_000), '5 d')
  })

  it('says before and after', () => {
    assert.equal(formatAge(1000, 1500), 'now')
    assert.equal(formatAge(1000, 13_000), '12 s ago')
    assert.equal(formatAge(181_000, 1000), 'in 3 min')
  })
})

describe('shortAddress and shortHash', () => {
  it('keeps the first and last digits', () => {
    assert.equal(shortAddress('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'), '0x7099…79C8')
    assert.equal(shortHash(`0x${'ab'.repeat(32)}`), '0xabababab…ababab')
    assert.equal(shortAddress('0x12'), '0x12')
  })
})

describe('normaliseDecimal', () => {
  it('takes a comma for the point', () => {
    assert.equal(normaliseDecimal('1,5'), '1.5')
    assert.equal(normaliseDecimal('1.5'), '1.5')
  })

  it('takes the last of two kinds of separators for the point', () => {
    assert.equal(normaliseDecimal('1,234.5'), '1234.5')
    assert.equal(normaliseDecimal('1.234,5'), '1234.5')
    assert.equal(normaliseDecimal('1,234,567'), '1234567')
    assert.equal(normaliseDecimal('1,234,567.25'), '1234567.25')
  })

  it('keeps the beginning of a number while it is typed', () => {
    assert.equal(normaliseDecimal(''), '')
    assert.equal(normaliseDecimal('12.'), '12.')
    assert.equal(normaliseDecimal('.'), '0.')
    assert.equal(normaliseDecimal('0.00'), '0.00')
    assert.equal(normaliseDecimal('007'), '7')
  })

  it('leaves out what is no digit', () => {
    assert.equal(normaliseDecimal('1e5 USD'), '15')
    assert.equal(normaliseDecimal('-3'), '3')
    assert.equal(normaliseDecimal('-3', { signed: true }), '-3')
    assert.equal(normaliseDecimal('\u22123,5', { signed: true }), '-3.5')
  })
})

describe('isPositiveDecimal and signOf', () => {
  it('refuses what is incomplete, zero or negative', () => {
    assert.deepEqual(['1', '0.5', '', '0', '0.00', '1.', '.5', '-1', '1e3'].map(isPositiveDecimal), [
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
    ])
  })

  it('knows the sign of any length', () => {
    assert.deepEqual(['0', '-0.0', '0.000000000000000001', '-99999999999999999999'].map(signOf), [0, 0, 1, -1])
  })
})
