import { PercentP, type CreateOrderRequest, type Order, type Position } from '@bezel/protocol/wire'
import type { ChainFacts, TradeFacts, VerifyContext } from '../verify/verifyContext.ts'

// An account with two positions, a resting order and requests that nobody answered, as the service and the chain tell
// of it.

export const DIAMOND = '0xd659a15812064C79E189fd950A189b15c75d3186'

export const TRADER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const AGENT = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

export const CHAIN_ID = 421_614

export const E10 = 10n ** 10n

const USDC = { symbol: 'USDC', index: 3, decimals: 6, priceUsd: '1', priceTolerancePercent: '0' }

export const WETH = { symbol: 'WETH', index: 2, decimals: 18, priceUsd: '2500', priceTolerancePercent: '0' }

/** Spread and volume impact of a buy: 0.05 %. A sell has the same below zero. */
const IMPACT_P = PercentP.of(PercentP.one / 20n)

export const SELL = { impactP: PercentP.of(-IMPACT_P) }

export const MARKET: CreateOrderRequest = {
  market: 'BTC/USD',
  side: 'long',
  type: 'market',
  size: '0.02',
  leverage: '10',
}

/** A long position of 0.05 BTC at 60,000 with leverage 10: 300 USDC of collateral. */
export const SAMPLE_POSITION: Position = {
  id: '7',
  trader: TRADER,
  market: 'BTC/USD',
  pairIndex: 0,
  side: 'long',
  size: '0.05',
  collateral: '300',
  collateralSymbol: 'USDC',
  leverage: '10',
  entryPrice: '60000',
  markPrice: '60100',
  liquidationPrice: '54500',
  unrealizedPnl: '5',
  unrealizedPnlPercent: '1.6',
  fundingFee: '0',
  borrowingFee: '0',
  sl: '55000',
  tp: '0',
  openedAtBlock: 100,
  marginMode: 'isolated',
  priceAt: 1_800_000_000_000,
  pendingUpdate: null,
  realized: '-1.8',
}

const SECOND: Position = { ...SAMPLE_POSITION, id: '8', size: '0.01', collateral: '60', sl: '0', openedAtBlock: 120 }

export const SAMPLE_ORDER: Order = {
  id: '9',
  trader: TRADER,
  market: 'BTC/USD',
  side: 'short',
  type: 'limit',
  size: '0.02',
  price: '65000',
  leverage: '20',
  collateral: 'USDC',
  sl: '70000',
  tp: null,
  reduceOnly: false,
  slippage: '1.5',
  clientId: null,
  status: 'open',
  txHash: null,
  expiresAt: null,
  fill: null,
  reason: null,
  createdAt: 1,
  updatedAt: 1,
}

export const TIMED_OUT: Order = {
  ...MARKET,
  ...SAMPLE_ORDER,
  side: 'long',
  type: 'market',
  price: null,
  status: 'timed_out',
}

const base = { pairIndex: 0, collateralIndex: 3, tp: 0n, sl: 0n, maxSlippageP: 0, size: undefined }

const TRADES: readonly TradeFacts[] = [
  {
    ...base,
    index: 2,
    long: true,
    tradeType: 0,
    collateralAmount: 300_000_000n,
    leverage: 10_000,
    openPrice: 60_000n * E10,
    sl: 55_000n * E10,
    size: 5n * 10n ** 16n,
  },
  {
    ...base,
    index: 3,
    long: true,
    tradeType: 0,
    collateralAmount: 60_000_000n,
    leverage: 10_000,
    openPrice: 60_000n * E10,
    size: 10n ** 16n,
  },
  {
    ...base,
    index: 4,
    long: false,
    tradeType: 1,
    // 0.02 x 65,000 x 0.9995 / 20.
    collateralAmount: 64_967_500n,
    leverage: 20_000,
    openPrice: 65_000n * E10,
    sl: 70_000n * E10,
    maxSlippageP: 1500,
  },
]

const ON_CHAIN: ChainFacts = {
  trades: TRADES,
  pending: [
    { index: 5, pairIndex: 0, tradeIndex: 0, long: true, orderType: 0 },
    { index: 6, pairIndex: 1, tradeIndex: 0, long: true, orderType: 0 },
    { index: 7, pairIndex: 0, tradeIndex: 2, long: false, orderType: 1 },
    { index: 8, pairIndex: 0, tradeIndex: 3, long: false, orderType: 9 },
    { index: 9, pairIndex: 0, tradeIndex: 2, long: true, orderType: 7 },
  ],
}

export const CONTEXT: VerifyContext = {
  diamond: DIAMOND,
  chainId: CHAIN_ID,
  trader: TRADER,
  sender: AGENT,
  market: { symbol: 'BTC/USD', pairIndex: 0, sizePrecision: 5, minCollateralUsd: '4.5' },
  collateral: USDC,
  expectedPrice: '60100',
  impactP: IMPACT_P,
  positions: [SECOND, SAMPLE_POSITION],
  onChain: ON_CHAIN,
}
