import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MarketGroup } from '@bezel/protocol/wire'
import { SAMPLE_MARKET } from '@bezel/testkit/sampleMarket.ts'
import {
  filterRows,
  groupsOf,
  matchesSearch,
  moveInList,
  nextSort,
  openInterestOf,
  parseFilter,
  parseSort,
  sortRows,
  sortText,
  type ListedRow,
} from './marketList.ts'

let pairs = 0

function row(symbol: string, given: Partial<ListedRow> & { readonly group?: MarketGroup; readonly oi?: string } = {}) {
  const { group = 'crypto', oi = '0', ...figures } = given
  const [base = '', quote = ''] = symbol.split('/')
  const funding = { ...SAMPLE_MARKET.funding, openInterestLongUsd: oi, openInterestShortUsd: '0.1' }
  const market = { ...SAMPLE_MARKET, symbol, pairIndex: (pairs += 1), base, quote, group, funding }
  return { market, mark: null, change: null, isFavourite: false, ...figures } satisfies ListedRow
}

const names = (rows: readonly ListedRow[]): string => rows.map(({ market }) => market.base).join(' ')

describe('the search of markets', () => {
  it('takes parts of the symbol with any separator, and the beginning of a class', () => {
    const { market } = row('EUR/USD', { group: 'forex' })
    for (const text of ['', 'eur', 'EUR/USD', 'eur-usd', 'eurusd', 'rus', 'for', ' usd  eur ']) {
      assert.equal(matchesSearch(market, text), true, text)
    }
    for (const text of ['btc', 'eur btc', 'orex']) assert.equal(matchesSearch(market, text), false, text)
  })

  it('is one condition beside the filter', () => {
    const rows = [
      row('BTC/USD', { isFavourite: true }),
      row('EUR/USD', { group: 'forex' }),
      row('GBP/USD', { group: 'forex' }),
    ]
    assert.equal(names(filterRows(rows, { filter: 'all', search: 'usd' })), 'BTC EUR GBP')
    assert.equal(names(filterRows(rows, { filter: 'favourites', search: '' })), 'BTC')
    assert.equal(names(filterRows(rows, { filter: 'forex', search: 'gb' })), 'GBP')
    assert.deepEqual(groupsOf(rows.map(({ market }) => market)), ['crypto', 'forex'])
  })
})

describe('the sort of markets', () => {
  it('keeps favourites first and what has no figure last, in both directions', () => {
    const rows = [
      row('A/USD', { mark: '9' }),
      row('B/USD'),
      row('C/USD', { mark: '10' }),
      row('D/USD', { mark: '1', isFavourite: true }),
    ]
    assert.equal(names(sortRows(rows, { key: 'price', isDescending: true })), 'D C A B')
    assert.equal(names(sortRows(rows, { key: 'price', isDescending: false })), 'D A C B')
    assert.equal(names(sortRows(rows, { key: 'listed', isDescending: false })), 'D A B C')
  })

  it('compares amounts as decimals, not as text or floats', () => {
    const big = '10000000000000000000000.2'
    const rows = [
      row('A/USD', { oi: '9.5' }),
      row('B/USD', { oi: '10000000000000000000000.1' }),
      row('C/USD', { oi: big }),
    ]
    assert.equal(openInterestOf(rows[0]!.market), '9.6')
    assert.equal(names(sortRows(rows, { key: 'openInterest', isDescending: true })), 'C B A')
  })

  it('goes from the usual direction over the other one back to the order of the list', () => {
    let sort = parseSort(undefined)
    const seen = [sortText(sort)]
    for (let click = 0; click < 3; click += 1) {
      sort = nextSort(sort, 'change')
      seen.push(sortText(sort))
    }
    assert.deepEqual(seen, [null, 'change', '-change', null])
    assert.deepEqual(nextSort(sort, 'market'), { key: 'market', isDescending: false })
    assert.deepEqual(nextSort({ key: 'market', isDescending: false }, 'market'), { key: 'market', isDescending: true })
  })

  it('is read from an address as it was written', () => {
    for (const text of ['market', '-market', 'price', '-price', 'openInterest'])
      assert.equal(sortText(parseSort(text)), text)
    assert.equal(sortText(parseSort('nonsense')), null)
    assert.equal(parseFilter('forex'), 'forex')
    assert.equal(parseFilter('nonsense'), 'all')
  })
})

describe('keys in a list', () => {
  it('move within its bounds', () => {
    assert.equal(moveInList('ArrowDown', 0, 3), 1)
    assert.equal(moveInList('ArrowDown', 2, 3), 2)
    assert.equal(moveInList('ArrowUp', 0, 3), 0)
    assert.equal(moveInList('End', 0, 3), 2)
    assert.equal(moveInList('Home', 2, 3), 0)
    assert.equal(moveInList('PageDown', 0, 30), 10)
    assert.equal(moveInList('x', 0, 3), null)
    assert.equal(moveInList('ArrowDown', 0, 0), null)
  })
})
