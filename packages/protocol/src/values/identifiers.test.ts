import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  parseMarketSymbol,
  parsePathSymbol,
  symbolOfPair,
  parseAddress,
  parseHex,
  parseOrderId,
} from './identifiers.ts'
import fc from 'fast-check'

describe('parseMarketSymbol', () => {
  it('follows the pattern of the interface', () => {
    for (const text of ['BTC/USD', 'USD/JPY', 'BRK.B/USD', '1INCH/USD', 'ABCDEFGHIJKLMNO/ABCDEFGHIJ']) {
      assert.equal(parseMarketSymbol(text), text)
    }
    for (const text of [
      '',
      'BTC',
      'BTC/',
      '/USD',
      'btc/USD',
      'BTC-USD',
      'BTC/USD/X',
      'AMZN_1/USD',
      'BTC/U.D',
      'BTC/USD\n',
    ]) {
      assert.equal(parseMarketSymbol(text), undefined, text)
    }
    assert.equal(parseMarketSymbol('ABCDEFGHIJKLMNOP/USD'), undefined)
  })
})

describe('parsePathSymbol', () => {
  it('takes a hyphen or a decoded slash', () => {
    assert.equal(parsePathSymbol('BTC-USD'), 'BTC/USD')
    assert.equal(parsePathSymbol(decodeURIComponent('BTC%2FUSD')), 'BTC/USD')
  })

  it('refuses everything else', () => {
    for (const text of ['BTCUSD', 'BTC-USD-X', 'BTC-/USD', 'BTC--USD', '-USD', 'btc-usd', '']) {
      assert.equal(parsePathSymbol(text), undefined, text)
    }
  })
})

describe('symbolOfPair', () => {
  it('drops the suffix of a share listed again', () => {
    assert.equal(symbolOfPair('AMZN_1', 'USD'), 'AMZN/USD')
    assert.equal(symbolOfPair('GOOGL_12', 'USD'), 'GOOGL/USD')
    assert.equal(symbolOfPair('BTC', 'USD'), 'BTC/USD')
  })

  it('has no symbol for names that fit none', () => {
    for (const [from, to] of [
      ['A_B', 'USD'],
      ['AMZN_', 'USD'],
      ['_1', 'USD'],
      ['btc', 'USD'],
      ['BTC', 'USD_1'],
      ['', ''],
    ] as const) {
      assert.equal(symbolOfPair(from, to), undefined, `${from}/${to}`)
    }
  })
})

describe('parseAddress', () => {
  const checksummed = '0xFF162c694eAA571f685030649814282eA457f169'

  it('gives one form for every spelling', () => {
    assert.equal(parseAddress(checksummed), checksummed)
    assert.equal(parseAddress(checksummed.toLowerCase()), checksummed)
    assert.equal(parseAddress(`0x${checksummed.slice(2).toUpperCase()}`), checksummed)
  })

  it('refuses what is no address', () => {
    for (const text of [
      '',
      '0x',
      checksummed.slice(2),
      checksummed.slice(0, -1),
      `${checksummed}0`,
      `${checksummed}\n`,
    ]) {
      assert.equal(parseAddress(text), undefined, text)
    }
    assert.equal(parseAddress(`0X${checksummed.slice(2)}`), undefined)
    assert.equal(parseAddress(checksummed.replace('F', 'G')), undefined)
  })
})

describe('parseHex', () => {
  it('accepts whole bytes, also none, in lower case', () => {
    assert.equal(parseHex('0x'), '0x')
    assert.equal(parseHex('0xAb01'), '0xab01')
  })

  it('refuses half bytes and other text', () => {
    for (const text of ['', '0', '0x0', 'ab', '0xzz', '0x0\n', ' 0x00']) assert.equal(parseHex(text), undefined, text)
  })
})

describe('parseOrderId', () => {
  it('accepts what fits 53 bits', () => {
    assert.equal(parseOrderId('1'), '1')
    assert.equal(parseOrderId('5316911983139663'), '5316911983139663')
    assert.equal(parseOrderId('9007199254740991'), '9007199254740991')
  })

  it('refuses the rest', () => {
    for (const text of [
      '',
      '0',
      '01',
      '-1',
      '1.0',
      '1e3',
      '9007199254740992',
      '9999999999999999',
      '10000000000000000',
    ]) {
      assert.equal(parseOrderId(text), undefined, text)
    }
  })

  it('survives a trip through a double', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat().filter((id) => id > 0),
        (id) => assert.equal(String(Number(parseOrderId(String(id)))), String(id)),
      ),
    )
  })
})
