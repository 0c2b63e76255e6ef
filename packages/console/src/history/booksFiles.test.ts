import type { FillHistoryEntry, Position } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { BOOKS_FILES, readBooksFile, type BooksReads } from './booksFiles.ts'

const FILL = {
  id: 1,
  timestamp: 0,
  market: 'BTC/USD',
  collateralSymbol: 'USDC',
  deposit: '120.06',
  payout: '0',
  pnl: '0',
  feeCollateral: '0.06',
  fundingFee: '0',
  borrowingFee: '0',
  forfeited: '0',
  netPnl: '-0.06',
} as FillHistoryEntry

const POSITION = { collateralSymbol: 'USDC', collateral: '120', realized: '0' } as Position

it('the CSV of the books balances, and every file that is offered can be read', async () => {
  const account: BooksReads = {
    async *allFills() {
      yield FILL
    },
    positions: async () => [POSITION],
    openOrders: async () => [],
  }
  const [header = '', row = ''] = (await readBooksFile(account, 'books.csv')).split('\r\n')
  const cells = Object.fromEntries(header.split(',').map((name, place) => [name, row.split(',')[place]]))
  assert.equal(cells['difference'], '0')
  assert.equal(cells['inPositions'], '120')
  for (const { name } of BOOKS_FILES) assert.notEqual(await readBooksFile(account, name), '')
})
