import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UsageError } from '../errors/cliError.ts'
import { readAddress, readChoice, readDecimal, readWhole, readMarket, readExpiry } from './readers.ts'

const NOW_MS = Date.parse('2026-11-15T12:00:00Z')

const HOUR_MS = 3_600_000

function refuses(read: (text: string) => unknown, texts: readonly string[]): void {
  for (const text of texts) assert.throws(() => read(text), UsageError, text)
}

describe('readers of arguments', () => {
  it('readDecimal takes numbers above zero in plain digits', () => {
    assert.equal(readDecimal('0.020', 'SIZE'), '0.02')
    refuses((text) => readDecimal(text, 'SIZE'), ['', '0', '-1', '1e3', '1,5', '.5', 'abc', '0x10', '1'.repeat(50)])
  })

  it('readMarket takes what people type', () => {
    for (const text of ['BTC/USD', 'btc/usd', 'BTC-USD', 'btc']) assert.equal(readMarket(text), 'BTC/USD')
    assert.equal(readMarket('eur/usd'), 'EUR/USD')
    refuses(readMarket, ['', 'a/b/c', 'B T C', 'BTC/'])
  })

  it('readExpiry takes spans and dates that are to come', () => {
    assert.equal(readExpiry('12h', NOW_MS), NOW_MS + 12 * HOUR_MS)
    assert.equal(readExpiry('30d', NOW_MS), NOW_MS + 720 * HOUR_MS)
    assert.equal(readExpiry('2027-01-31', NOW_MS), Date.parse('2027-01-31'))
    refuses((text) => readExpiry(text, NOW_MS), ['', '0h', '5', '5y', '2020-01-01', 'tomorrow', '2027-13-45'])
  })

  it('readChoice takes one of its words', () => {
    assert.equal(readChoice('b', 'X', ['a', 'b']), 'b')
    refuses((text) => readChoice(text, 'X', ['a', 'b']), ['', 'A', 'ab'])
  })

  it('readAddress gives the checksummed form', () => {
    const address = '0x4082c833EC182979622b4c14184d6C0EeeafDd7A'
    assert.equal(readAddress(address.toLowerCase(), 'ADDRESS'), address)
    refuses((text) => readAddress(text, 'ADDRESS'), ['', '0x1', address.slice(2), `${address}0`])
  })

  it('readWhole keeps to its bounds', () => {
    assert.equal(readWhole('5', '--limit', { min: 1, max: 5 }), 5)
    refuses((text) => readWhole(text, '--limit', { min: 1, max: 5 }), ['0', '6', '1.5', '-1', '', '1e0'])
  })
})
