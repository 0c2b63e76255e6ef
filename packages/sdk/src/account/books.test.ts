import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FillHistoryEntry, Order, Position } from '@bezel/protocol/wire'
import fc from 'fast-check'
import { decimal } from '../markets/decimal.ts'
import { addUpBooks, csvOfBooks } from './books.ts'

const HASH = `0x${'12'.repeat(32)}` as const

const FILL: FillHistoryEntry = {
  id: 1,
  market: 'BTC/USD',
  action: 'TradeOpenedMarket',
  side: 'long',
  price: '60012',
  size: '0.02',
  collateral: '100',
  leverage: '10',
  pnl: '0',
  timestamp: Date.UTC(2026, 10, 15, 12, 4, 31),
  txHash: HASH,
  positionId: '3',
  orderId: '7',
  clientId: null,
  collateralSymbol: 'USDC',
  feeCollateral: '0.75',
  fundingFee: '0',
  borrowingFee: '0',
  deposit: '100',
  payout: '0',
  forfeited: '0',
  netPnl: '-0.75',
}

const POSITION = { id: '3', collateralSymbol: 'USDC', collateral: '100', realized: '-0.75' } as Position

/** Numbers of a token with six decimals. */
const amounts = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }).map((of) => decimal.mul(String(of), '0.000001'))

/** Parses RFC 4180 CSV, independently of the writer. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    rows.at(-1)!.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

describe('addUpBooks', () => {
  it('balances while a position is open, and after it was closed', () => {
    const [open] = addUpBooks([FILL], [POSITION])
    assert.deepEqual([open?.inPositions, open?.netPnl, open?.difference], ['99.25', '-0.75', '0'])
    const closed = { ...FILL, deposit: '0', payout: '104.25', pnl: '5.75', netPnl: '5', id: 2 }
    const [books, ...others] = addUpBooks([closed, FILL], [])
    assert.deepEqual(
      [books?.entries, books?.deposit, books?.payout, books?.feeCollateral, books?.netPnl, books?.difference],
      [2, '100', '104.25', '1.5', '4.25', '0'],
    )
    assert.deepEqual(others, [])
  })

  it('keeps collaterals apart, and says by how much the books are off', () => {
    const weth = { ...FILL, collateralSymbol: 'WETH', deposit: '0.000000000000000003', netPnl: '0' }
    const books = addUpBooks([weth, FILL], [POSITION])
    assert.deepEqual(
      books.map(({ collateralSymbol, difference }) => [collateralSymbol, difference]),
      [
        ['USDC', '0'],
        ['WETH', '0.000000000000000003'],
      ],
    )
  })

  it('takes entries without amounts for nothing', () => {
    const old = { ...FILL, collateralSymbol: null, deposit: null, payout: null, netPnl: null, feeCollateral: null }
    assert.deepEqual(addUpBooks([old], []), [])
    assert.equal(addUpBooks([{ ...old, collateralSymbol: 'USDC' }], [])[0]?.difference, '0')
  })

  it('loses no digit of any history', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(amounts, amounts, amounts), { minLength: 1, maxLength: 30 }), (rows) => {
        const fills = rows.map(([deposit, payout, netPnl]) => ({ ...FILL, deposit, payout, netPnl }))
        const units = (text: string): bigint => BigInt(decimal.mul(text, '1000000'))
        const expected = rows.reduce((sum, [into, out, net]) => sum + units(into) - units(out) + units(net), 0n)
        assert.equal(units(addUpBooks(fills, [])[0]!.difference), expected)
      }),
    )
  })
})

describe('csvOfBooks', () => {
  const order = { id: '7', createdAt: FILL.timestamp, clientId: 'he said "buy", twice', price: null } as Order

  it('writes every field as it came, times as dates, and the sums', () => {
    const files = csvOfBooks({ fills: [FILL], positions: [POSITION], orders: [order] })
    assert.deepEqual(Object.keys(files), ['fills.csv', 'positions.csv', 'orders.csv', 'books.csv'])
    const rowOf = (text: string): Record<string, string | undefined> => {
      const [head = [], row = []] = cellsOf(text)
      return Object.fromEntries(head.map((name, place) => [name, row[place]]))
    }
    const fill = rowOf(files['fills.csv'])
    for (const [name, value] of Object.entries(FILL)) {
      assert.equal(fill[name], name === 'timestamp' ? '2026-11-15T12:04:31.000Z' : String(value ?? ''), name)
    }
    const { clientId, createdAt, price } = rowOf(files['orders.csv'])
    assert.deepEqual([clientId, createdAt, price], ['he said "buy", twice', '2026-11-15T12:04:31.000Z', ''])
    assert.equal(rowOf(files['books.csv'])['difference'], '0')
  })

  it('has no cell that a spreadsheet would run', () => {
    const texts = ['=1+1', '+1', '@x', '-x', '\tx']
    const orders = texts.map((clientId) => ({ ...order, clientId }))
    const [head = [], ...rows] = cellsOf(csvOfBooks({ fills: [FILL], positions: [], orders })['orders.csv'])
    const place = head.indexOf('clientId')
    assert.deepEqual(
      rows.map((row) => row[place]),
      texts.map((text) => `'${text}`),
    )
    assert.match(csvOfBooks({ fills: [FILL], positions: [], orders })['fills.csv'], /,-0\.75,/)
  })

  it('has titles where nothing is there', () => {
    const files = csvOfBooks({ fills: [], positions: [], orders: [] })
    for (const text of Object.values(files)) assert.equal(cellsOf(text).length, 1)
  })
})
