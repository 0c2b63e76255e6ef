import type { Order, Position, Price } from '@bezel/sdk'
import { PLAIN_TYPING } from '../../output/advice.ts'
import { emptyScreen, type ScreenState } from '../screenState.ts'

export const NOW_MS = Date.UTC(2026, 10, 16, 12, 4, 31)

const TRADER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export const POSITION: Position = {
  id: '1043',
  trader: TRADER,
  market: 'BTC/USD',
  pairIndex: 0,
  side: 'long',
  size: '0.019996000799840031',
  collateral: '120.024',
  collateralSymbol: 'USDC',
  leverage: '10',
  entryPrice: '60012.0003',
  markPrice: '60000',
  liquidationPrice: '54694.9368',
  unrealizedPnl: '-0.961',
  unrealizedPnlPercent: '-0.8',
  fundingFee: '0',
  borrowingFee: '0',
  sl: '57000',
  tp: '0',
  openedAtBlock: 100,
  marginMode: 'isolated',
  priceAt: NOW_MS,
  pendingUpdate: null,
  realized: '-0.721',
}

export const ORDER: Order = {
  id: '1044',
  trader: TRADER,
  market: 'ETH/USD',
  side: 'short',
  type: 'limit',
  size: '1.5',
  price: '4200',
  leverage: '5',
  collateral: 'USDC',
  sl: '4500',
  tp: null,
  reduceOnly: false,
  slippage: '1',
  clientId: null,
  status: 'open',
  txHash: null,
  expiresAt: null,
  fill: null,
  reason: null,
  createdAt: NOW_MS,
  updatedAt: NOW_MS,
}

export function priceOf(market: string, mark: string): Price {
  return { market, mark, index: mark, updatedAt: NOW_MS }
}

/** A screen on which everything is there once. */
export const SAMPLE_SCREEN: ScreenState = {
  ...emptyScreen({
    account: `${TRADER} (trader-1)`,
    chain: 'arbitrum-sepolia',
    typing: PLAIN_TYPING,
    chosen: undefined,
    nowMs: NOW_MS,
  }),
  prices: new Map([priceOf('BTC/USD', '60000'), priceOf('ETH/USD', '4100.5')].map((price) => [price.market, price])),
  positions: [POSITION],
  orders: [ORDER],
  balances: [{ collateral: 'USDC', balance: '9879.254999', allowance: '1000000' }],
  log: [
    { seq: 7, channel: 'orders', timestamp: NOW_MS, block: null, reverted: false, data: ORDER },
    { seq: 8, channel: 'positions', timestamp: NOW_MS, block: 5, reverted: false, data: [POSITION] },
  ],
  connection: { state: 'open' },
}
