import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  DECIMAL_PATTERN,
  decimalPlaces,
  formatDecimal,
  MAX_DECIMAL_CHARS,
  parseDecimal,
  roundDecimal,
  scaleDecimal,
  scaleDecimalTruncated,
  type Decimal,
} from './decimal.ts'

const decimal = (text: string): Decimal => parseDecimal(text) ?? assert.fail(`not a decimal: ${text}`)

/** Computes the same number in a second way: digit by digit, with a numerator and a count of places. */
function naiveScale(text: string, decimals: number): bigint {
  let scaled = 0n
  let placesLeft: number | undefined
  for (const character of text.replace('-', '')) {
    if (character === '.') placesLeft = decimals
    else if (placesLeft === undefined) scaled = scaled * 10n + BigInt(character)
    else if (placesLeft > 0) {
      scaled = scaled * 10n + BigInt(character)
      placesLeft -= 1
    }
  }
  for (let i = 0; i < (placesLeft ?? decimals); i++) scaled *= 10n
  return text.startsWith('-') ? -scaled : scaled
}

const decimalText = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.stringMatching(/^\d{0,18}$/))
  .map(([isNegative, whole, fraction]) => `${isNegative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`)

describe('parseDecimal', () => {
  it('gives the canonical form', () => {
    for (const [text, canonical] of [
      ['0', '0'],
      ['-0', '0'],
      ['0.0', '0'],
      ['-0.000', '0'],
      ['1.50', '1.5'],
      ['100', '100'],
      ['100.00', '100'],
      ['-1.0', '-1'],
      ['0.10', '0.1'],
      ['-0.5', '-0.5'],
    ]) {
      assert.equal(parseDecimal(text!), canonical, text)
    }
  })

  it('refuses what is no decimal', () => {
    const malformed = [
      '',
      '.',
      '-',
      '.5',
      '5.',
      '01',
      '-01',
      '00',
      '+1',
      '1e3',
      '1E3',
      '0x1',
      ' 1',
      '1 ',
      '1,5',
      '1\n',
      '١',
      'NaN',
    ]
    for (const text of malformed) assert.equal(parseDecimal(text), undefined, JSON.stringify(text))
  })

  it('refuses more than 40 characters and accepts 40', () => {
    assert.equal(MAX_DECIMAL_CHARS, 40)
    assert.equal(parseDecimal('1'.repeat(40)), '1'.repeat(40))
    assert.equal(parseDecimal('1'.repeat(41)), undefined)
    assert.equal(parseDecimal(`1.${'0'.repeat(1_000_000)}`), undefined)
  })

  it('keeps the value, whatever the text', () => {
    fc.assert(
      fc.property(decimalText, (text) => {
        const value = decimal(text)
        assert.match(value, DECIMAL_PATTERN)
        assert.equal(naiveScale(value, 20), naiveScale(text, 20))
        assert.equal(parseDecimal(value), value)
        assert.doesNotMatch(value, /^-0$|\.\d*0$|\.$/)
      }),
    )
  })
})

describe('scaleDecimal', () => {
  it('is exact', () => {
    assert.equal(scaleDecimal(decimal('1.5'), 3), 1500n)
    assert.equal(scaleDecimal(decimal('-0.001'), 3), -1n)
    assert.equal(scaleDecimal(decimal('65000.5'), 10), 650_005_000_000_000n)
    assert.equal(scaleDecimal(decimal('7'), 0), 7n)
  })

  it('refuses digits it would have to round, but no trailing zeros', () => {
    assert.equal(scaleDecimal(decimal('1.0001'), 3), undefined)
    assert.equal(scaleDecimal(decimal('0.5'), 0), undefined)
    assert.equal(scaleDecimal(decimal('1.50000'), 1), 15n)
  })

  it('agrees with the naive way, and truncating agrees with it everywhere', () => {
    fc.assert(
      fc.property(decimalText, fc.nat(20), (text, decimals) => {
        const value = decimal(text)
        const expected = decimalPlaces(value) <= decimals ? naiveScale(value, decimals) : undefined
        assert.equal(scaleDecimal(value, decimals), expected)
        assert.equal(scaleDecimalTruncated(value, decimals), naiveScale(value, decimals))
      }),
    )
  })
})

describe('scaleDecimalTruncated', () => {
  it('cuts toward zero on both sides', () => {
    assert.equal(scaleDecimalTruncated(decimal('1.9999'), 2), 199n)
    assert.equal(scaleDecimalTruncated(decimal('-1.9999'), 2), -199n)
    assert.equal(scaleDecimalTruncated(decimal('-0.001'), 2), 0n)
  })
})

describe('formatDecimal', () => {
  it('writes on-chain amounts', () => {
    assert.equal(formatDecimal(0n, 18), '0')
    assert.equal(formatDecimal(-1n, 18), '-0.000000000000000001')
    assert.equal(formatDecimal(1_500_000n, 6), '1.5')
    assert.equal(formatDecimal(100n, 0), '100')
    assert.equal(formatDecimal(2n ** 256n - 1n, 0), (2n ** 256n - 1n).toString())
  })

  it('is undone by scaling', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n }), fc.nat(24), (scaled, decimals) => {
        const text = formatDecimal(scaled, decimals)
        assert.match(text, DECIMAL_PATTERN)
        assert.doesNotMatch(text, /^-0$|\.\d*0$/)
        assert.equal(scaleDecimal(text, decimals), scaled)
        assert.equal(naiveScale(text, decimals), scaled)
      }),
    )
  })
})

describe('roundDecimal', () => {
  it('rounds half away from zero, and keeps the first digits of a small number', () => {
    const cases = [
      ['0.029999999877381197', 8, 6, '0.03'],
      ['60887.8155075288', 6, 6, '60887.815508'],
      ['-1.995', 2, 3, '-2'],
      ['0.000000000123456789', 8, 6, '0.000000000123457'],
      ['-0.0012345', 2, 3, '-0.00123'],
      ['1000000.000000004', 8, 6, '1000000'],
      ['0', 8, 6, '0'],
    ] as const
    for (const [value, places, digits, expected] of cases) assert.equal(roundDecimal(value, places, digits), expected)
  })
})
