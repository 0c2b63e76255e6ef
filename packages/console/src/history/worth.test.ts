import type { Account, Order, Position } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { heldByOrders, worthNow } from './worth.ts'

const ACCOUNT = { balances: [{ collateral: 'USDC', balance: '1000.5', allowance: '0' }] } as Account

const POSITION = {
  market: 'BTC/USD',
  side: 'long',
  size: '0.02',
  collateral: '120',
  collateralSymbol: 'USDC',
  leverage: '10',
  markPrice: '60000',
  unrealizedPnl: '2',
  fundingFee: '0',
  borrowingFee: '0',
  realized: '-1',
} as Position

const order = (of: Partial<Order>): Order =>
  ({ status: 'open', collateral: 'USDC', reduceOnly: false, size: '0.3', price: '10', leverage: '7', ...of }) as Order

describe('the worth of an account', () => {
  it('is in the wallet, in positions and in orders', () => {
    const holdings = { account: ACCOUNT, positions: [POSITION], orders: [], markOf: () => undefined }
    assert.deepEqual(worthNow(holdings, 'USDC', 7), { booked: '1119.5', live: '1122.5', atMs: 7 })
    assert.deepEqual(worthNow({ ...holdings, orders: [order({})] }, 'USDC', 7).booked, '1119.928571')
    assert.deepEqual(worthNow(holdings, 'DAI', 7), { booked: '0', live: '0', atMs: 7 })
  })

  it('counts only orders that hold something of the token', () => {
    const orders = [
      order({ status: 'filled' }),
      order({ reduceOnly: true }),
      order({ collateral: 'DAI' }),
      order({ price: null }),
      order({ status: 'timed_out', leverage: '2' }),
    ]
    assert.equal(heldByOrders(orders, 'USDC'), '1.5')
    assert.equal(heldByOrders([order({ collateral: 'WETH' })], 'WETH'), '0')
  })
})
