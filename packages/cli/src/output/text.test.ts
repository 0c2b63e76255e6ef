import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decimal } from '@bezel/sdk'
import fc from 'fast-check'
import {
  dateAndTime,
  NO_BREAK,
  percentOf,
  shortAmount,
  shortDecimal,
  shortLeverage,
  shortPrice,
  shortSize,
  shortValue,
  wrapWords,
} from './text.ts'

/** Decimals as the interface writes them: up to 12 digits on either side of the point, of either sign. */
const decimals = fc
  .record({
    units: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    places: fc.nat({ max: 12 }),
    isNegative: fc.boolean(),
  })
  .map(({ units, places, isNegative }) => {
    const digits = units.toString().padStart(places + 1, '0')
    const text = `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`.replace(
      /\.?0*$/,
      '',
    )
    return text === '0' || !isNegative ? text : `-${text}`
  })

const absolute = (text: string): string => text.replace('-', '')

describe('numbers for people', () => {
  it('are rounded, half away from zero, and know the unlimited', () => {
    assert.equal(shortDecimal('62049.85230737', 2), '62049.85')
    assert.equal(shortDecimal('-1.995', 2), '-2')
    assert.equal(shortDecimal('5', 2), '5')
    assert.equal(shortDecimal((2n ** 256n - 1n).toString(), 2), 'unlimited')
  })

  it('keep their first digits when they are small', () => {
    assert.equal(shortDecimal('-0.0012345', 2), '-0.00123')
    assert.equal(shortDecimal('0.9999', 2), '1')
    assert.equal(shortPrice('0.00000123456789'), '0.0000012346')
    assert.equal(shortPrice('62049.85230737'), '62049.852307')
    assert.equal(percentOf('0.0006'), '0.06 %')
    assert.equal(percentOf('-0.00000049999'), '-0.00005 %')
  })

  it('have one way for each kind', () => {
    assert.equal(shortSize('0.009999890001'), '0.0099999')
    assert.equal(shortSize('0.019996000799840031'), '0.019996')
    assert.equal(shortAmount('120.0240000001'), '120.024')
    assert.equal(shortValue('-1.2345'), '-1.23')
    assert.equal(shortLeverage('10.0784'), '10.078x')
  })

  it('are never farther off than half of their last place, and only zero is shown as zero', () => {
    fc.assert(
      fc.property(decimals, fc.nat({ max: 8 }), (text, places) => {
        const shown = shortDecimal(text, places)
        const last = Math.max(places, shown.split('.')[1]?.length ?? 0)
        const twiceOff = decimal.mul(absolute(decimal.sub(shown, text)), '2')
        assert.ok(
          decimal.compare(twiceOff, last === 0 ? '1' : `0.${'0'.repeat(last - 1)}1`) <= 0,
          `${text} as ${shown}`,
        )
        assert.equal(shown === '0', text === '0')
        assert.equal(shown.startsWith('-'), text.startsWith('-'))
      }),
    )
  })
})

describe('times for people', () => {
  it('are dates with seconds, in UTC, also where no date is left', () => {
    assert.equal(dateAndTime(Date.UTC(2026, 10, 15, 12, 4, 31, 999)), '2026-11-15 12:04:31')
    assert.match(dateAndTime(Number.MAX_SAFE_INTEGER), /^\+275760-09-13/)
  })
})

describe('wrapWords', () => {
  it('breaks no line at a space that joins', () => {
    assert.deepEqual(wrapWords(`one two${NO_BREAK}three`, 8), ['one', 'two three'])
  })

  it('loses no word, cuts none, and makes no line too long unless it is one word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z0-9.]{1,30}$/), { minLength: 1 }),
        fc.integer({ min: 1, max: 60 }),
        (words, room) => {
          const lines = wrapWords(words.join(' '), room)
          assert.deepEqual(lines.join(' ').split(' '), words)
          for (const line of lines) assert.ok(line.length <= room || !line.includes(' '))
        },
      ),
    )
  })
})
