import type { Account, Order, Position } from '@bezel/sdk'

/** Trader of the samples. */
export const TRADER = '0x6B3595068778DD592e39A122f4f5a5cF09C90fE2'

/** Hash of the samples. */
export const HASH = `0x${'2f'.repeat(32)}` as const

/** Returns a market order that was prepared, with the given differences. */
export function sampleOrder(of: Partial<Order> = {}): Order {
  return {
    id: '12',
    trader: TRADER,
    market: 'BTC/USD',
    side: 'long',
    type: 'market',
    size: '0.01',
    price: '60000',
    leverage: '10',
    collateral: 'USDC',
    sl: null,
    tp: null,
    reduceOnly: false,
    slippage: '1',
    clientId: 'console-1',
    status: 'prepared',
    txHash: null,
    expiresAt: 61_000,
    fill: null,
    reason: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...of,
  }
}

/** Returns the fields of a filled order. */
export function filled(atMs: number): Pick<Order, 'status' | 'txHash' | 'fill' | 'updatedAt' | 'expiresAt'> {
  const fill = {
    price: '60010',
    size: '0.01',
    collateral: '60',
    feeCollateral: '0.36',
    txHash: HASH,
    timestamp: atMs,
    positionId: '13',
  }
  return { status: 'filled', txHash: HASH, fill, updatedAt: atMs, expiresAt: null }
}

/** Returns an account without anything in it. */
export function sampleAccount(of: Partial<Account> = {}): Account {
  return { address: TRADER, balances: [], feeTierMultiplier: '1', referrer: null, agents: [], ...of }
}

/** Returns an open position. */
export function samplePosition(id: string): Position {
  return {
    id,
    trader: TRADER,
    market: 'BTC/USD',
    pairIndex: 0,
    side: 'long',
    size: '0.01',
    collateral: '60',
    collateralSymbol: 'USDC',
    leverage: '10',
    entryPrice: '60010',
    markPrice: '60000',
    liquidationPrice: '54000',
    unrealizedPnl: '-0.1',
    unrealizedPnlPercent: '-0.16',
    fundingFee: '0',
    borrowingFee: '0',
    sl: '0',
    tp: '0',
    openedAtBlock: 1,
    marginMode: 'isolated',
    priceAt: 1_000,
    pendingUpdate: null,
    realized: '-0.36',
  }
}
