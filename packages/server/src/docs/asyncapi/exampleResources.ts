import type { AccountSchema, Order, Position, RecentTrade } from '@bezel/protocol'
import type { Static } from '@sinclair/typebox'

// The resources of the example messages: one trader who buys a little of BTC/USD.

export const TRADER = '0x6b3595068778dd592e39a122f4f5a5cf09c90fe2'
export const AGENT = '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359'
const TX_HASH = '0x2f1c5c2b44f771e942a8506148e256f94f1a464babc938ae0690c6e34cd79190'

export const ORDER: Order = {
  id: '1042',
  trader: TRADER,
  market: 'BTC/USD',
  side: 'long',
  type: 'market',
  size: '0.01',
  price: '61250.4',
  leverage: '10',
  collateral: 'USDC',
  sl: null,
  tp: '68000',
  reduceOnly: false,
  slippage: '1',
  clientId: 'first-1',
  status: 'filled',
  txHash: TX_HASH,
  expiresAt: null,
  fill: {
    price: '61262.9',
    size: '0.009997959612391121',
    collateral: '61.2504',
    feeCollateral: '0.3675',
    txHash: TX_HASH,
    timestamp: 1_790_000_002_000,
    positionId: '1043',
  },
  reason: null,
  createdAt: 1_789_999_999_120,
  updatedAt: 1_790_000_002_000,
}

export const PENDING_ORDER: Order = { ...ORDER, status: 'pending', fill: null, updatedAt: 1_790_000_001_000 }

export const POSITION: Position = {
  id: '1043',
  trader: TRADER,
  market: 'BTC/USD',
  pairIndex: 0,
  side: 'long',
  size: '0.009997959612391121',
  collateral: '61.2504',
  collateralSymbol: 'USDC',
  leverage: '10',
  entryPrice: '61262.9',
  markPrice: '61250.4',
  liquidationPrice: '55789.1',
  unrealizedPnl: '-0.492474',
  unrealizedPnlPercent: '-0.804',
  fundingFee: '0',
  borrowingFee: '0.000012',
  sl: '0',
  tp: '68000',
  openedAtBlock: 215_007_431,
  marginMode: 'isolated',
  priceAt: 1_790_000_001_900,
  pendingUpdate: null,
  realized: '-0.3675',
}

export const ACCOUNT: Static<typeof AccountSchema> = {
  address: TRADER,
  balances: [{ collateral: 'USDC', balance: '938.7496', allowance: '1000000' }],
  feeTierMultiplier: '1',
  referrer: null,
  agents: [
    {
      agent: AGENT,
      trader: TRADER,
      name: 'my bot',
      scope: { markets: 'all', maxLeverage: '50', dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
      mode: 'self',
      status: 'active',
      createdAt: 1_789_900_000_000,
    },
  ],
}

export const TRADE: RecentTrade = {
  market: 'BTC/USD',
  price: '61262.9',
  sizeUsd: '612.504',
  side: 'long',
  action: 'TradeOpenedMarket',
  timestamp: 1_790_000_002_000,
  txHash: TX_HASH,
}
