import type { FillHistoryEntry, Hex } from '@bezel/protocol'

/** Returns an entry of the history of fills: an opening of 0.1 BTC at 10x, unless `changes` say otherwise. */
export function sampleFill(id: number, changes: Partial<FillHistoryEntry> = {}): FillHistoryEntry {
  return {
    id,
    market: 'BTC/USD',
    action: 'TradeOpenedMarket',
    side: 'long',
    price: '60000',
    size: '0.1',
    collateral: '600',
    leverage: '10',
    pnl: '0',
    timestamp: 1_000 + id,
    txHash: `0x${'cd'.repeat(32)}` as Hex,
    positionId: '900',
    orderId: null,
    clientId: null,
    collateralSymbol: 'USDC',
    feeCollateral: '0.9',
    fundingFee: '0',
    borrowingFee: '0',
    deposit: '600',
    payout: '0',
    forfeited: '0',
    netPnl: '-0.9',
    ...changes,
  }
}
