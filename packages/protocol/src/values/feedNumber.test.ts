import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseFeedNumber } from './decimal.ts'

describe('parseFeedNumber', () => {
  it('writes out exponents', () => {
    for (const [value, expected] of [
      [65000.5, '65000.5'],
      [1.2e-7, '0.00000012'],
      [0.00000001234, '0.00000001234'],
      ['1E+3', '1000'],
      ['-1.50e3', '-1500'],
      ['1.5e1', '15'],
      ['1.25e1', '12.5'],
      ['0e10', '0'],
      ['-0.0e-5', '0'],
      ['12345e-2', '123.45'],
      ['12345e-5', '0.12345'],
      ['12345e-7', '0.0012345'],
      [-0, '0'],
    ] as const) {
      assert.equal(parseFeedNumber(value), expected, String(value))
    }
  })

  it('refuses what is no finite number or can be no price', () => {
    const refused = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '',
      'e5',
      '1e',
      '0x10',
      '01',
      '.5',
      '1e999',
      '1e-41',
      '1e41',
      '9e40',
    ]
    for (const value of refused) assert.equal(parseFeedNumber(value), undefined, String(value))
  })

  it('reads back as the same double', () => {
    const price = fc.double({ min: 1e-15, max: 1e15, noNaN: true })
    fc.assert(fc.property(price, (value) => assert.equal(Number(parseFeedNumber(value)), value)))
  })
})
