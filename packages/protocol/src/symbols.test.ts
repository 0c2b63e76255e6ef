import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseMarketSymbol, parsePathSymbol, symbolOfPair } from './symbols.ts'

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
