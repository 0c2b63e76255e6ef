import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { hrefOf, navigate, parseRoute, route, setQuery, tradePath, withQuery } from './router.ts'

describe('parseRoute', () => {
  it('knows every page', () => {
    assert.deepEqual(parseRoute('/'), { view: 'markets', query: {} })
    assert.deepEqual(parseRoute('/markets'), { view: 'markets', query: {} })
    assert.deepEqual(parseRoute('/trade/BTC-USD'), { view: 'trade', market: 'BTC/USD', query: {} })
    assert.deepEqual(parseRoute('/portfolio'), { view: 'portfolio', query: {} })
    assert.deepEqual(parseRoute('/portfolio/orders'), { view: 'portfolio', tab: 'orders', query: {} })
    assert.deepEqual(parseRoute('/history/ledger/'), { view: 'history', tab: 'ledger', query: {} })
    assert.deepEqual(parseRoute('/agents'), { view: 'agents', query: {} })
    assert.deepEqual(parseRoute('/system'), { view: 'system', query: {} })
  })

  it('keeps the query of a deep link', () => {
    const found = parseRoute('/trade/BTC-USD?order=12&interval=1h')
    assert.deepEqual(found, { view: 'trade', market: 'BTC/USD', query: { order: '12', interval: '1h' } })
  })

  it('reads a market however it is written', () => {
    const markets = ['/trade/btc-usd', '/trade/BTC%2FUSD', '/trade/BTC-USD/'].map((path) => parseRoute(path))
    assert.deepEqual(new Set(markets.map((found) => found.view === 'trade' && found.market)), new Set(['BTC/USD']))
    const dotted = parseRoute('/trade/BRK.B-USD')
    assert.equal(dotted.view === 'trade' && dotted.market, 'BRK.B/USD')
  })

  it('shows the markets where no market is named', () => {
    assert.equal(parseRoute('/trade').view, 'markets')
    assert.equal(parseRoute('/trade/').view, 'markets')
  })

  it('says that there is no such page', () => {
    for (const path of ['/nothing', '/portfolio/orders/12', '/trade/BTC/USD', '/markets/x']) {
      assert.equal(parseRoute(path).view, 'missing', path)
    }
  })

  it('survives a path that is encoded badly, or that looks like another host', () => {
    assert.equal(parseRoute('/trade/%E0%A4%A').view, 'trade')
    assert.equal(parseRoute('//evil.example/trade/BTC-USD').view, 'missing')
  })
})

describe('tradePath and withQuery', () => {
  it('is the inverse of parsing', () => {
    const found = parseRoute(tradePath('BRK.B/USD'))
    assert.equal(found.view === 'trade' && found.market, 'BRK.B/USD')
  })

  it('sets and takes out parameters', () => {
    assert.equal(withQuery('/trade/BTC-USD?order=1', { interval: '1h', order: null }), '/trade/BTC-USD?interval=1h')
    assert.equal(withQuery('/portfolio?x=1', { x: '' }), '/portfolio')
  })
})

describe('navigate', () => {
  beforeEach(() => {
    setQuery({ chain: null })
    navigate('/')
  })

  it('shows another page', () => {
    navigate('/portfolio/orders?order=3')
    assert.deepEqual(route.value, { view: 'portfolio', tab: 'orders', query: { order: '3' } })
  })

  it('keeps the chain of the address, unless the link names one', () => {
    navigate('/?chain=base')
    navigate('/agents')
    assert.deepEqual(route.value.query, { chain: 'base' })
    assert.equal(hrefOf('/system?x=1'), '/system?x=1&chain=base')
    navigate('/agents?chain=polygon')
    assert.deepEqual(route.value.query, { chain: 'polygon' })
  })

  it('changes parameters of the page in its place', () => {
    navigate('/trade/ETH-USD')
    setQuery({ interval: '4h' })
    assert.deepEqual(route.value, { view: 'trade', market: 'ETH/USD', query: { interval: '4h' } })
  })
})
