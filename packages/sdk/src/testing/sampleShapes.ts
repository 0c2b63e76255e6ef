import type { CreateOrderRequest, Order, Position, PreparedTransaction } from '@bezel/protocol/wire'
import { zeroAddress } from 'viem'
import type { ChainFacts, TradeFacts, VerifyContext, WriteRequest } from '../verify/verifyContext.ts'
import { writeInput, type CallNode } from './callTree.ts'
import type { PreparedWrite } from '../verify/verifyPrepared.ts'

/** A request, the write prepared for it, and the facts to check it against. */
export interface Shape {
  readonly name: string
  readonly request: WriteRequest
  readonly prepared: PreparedWrite & { readonly transaction: PreparedTransaction }
  readonly context: VerifyContext
}

// One transaction of every kind, written call by call from the table of the interface (api.md 2.4) and not with the
// service's code.

const DIAMOND = '0xd659a15812064C79E189fd950A189b15c75d3186'

const TRADER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const AGENT = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const CHAIN_ID = 421_614

const E10 = 10n ** 10n

const USDC = { symbol: 'USDC', index: 3, decimals: 6, priceUsd: '1', priceTolerancePercent: '0' }

const WETH = { symbol: 'WETH', index: 2, decimals: 18, priceUsd: '2500', priceTolerancePercent: '0' }

const MARKET: CreateOrderRequest = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

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

const TIMED_OUT: Order = { ...MARKET, ...SAMPLE_ORDER, side: 'long', type: 'market', price: null, status: 'timed_out' }

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
    collateralAmount: 65_000_000n,
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
  ],
}

const CONTEXT: VerifyContext = {
  diamond: DIAMOND,
  chainId: CHAIN_ID,
  trader: TRADER,
  sender: AGENT,
  market: { symbol: 'BTC/USD', pairIndex: 0, sizePrecision: 5, minCollateralUsd: '4.5' },
  collateral: USDC,
  expectedPrice: '60100',
  positions: [SECOND, SAMPLE_POSITION],
  onChain: ON_CHAIN,
}

function openTrade(
  terms: { long: boolean; leverage: number; tradeType: number; collateralAmount: bigint; openPrice: bigint } & Partial<{
    collateralIndex: number
    tp: bigint
    sl: bigint
  }>,
  slippageP: number,
): CallNode {
  const fixed = {
    user: TRADER,
    index: 0,
    pairIndex: 0,
    isOpen: true,
    isCounterTrade: false,
    positionSizeToken: 0n,
    __placeholder: 0,
  }
  return {
    name: 'openTrade',
    args: [{ ...fixed, collateralIndex: 3, tp: 0n, sl: 0n, ...terms }, slippageP, zeroAddress],
  }
}

/** A trade of 0.02 BTC at 60,100.5 with leverage 10. */
const MARKET_TRADE = {
  long: true,
  leverage: 10_000,
  tradeType: 0,
  collateralAmount: 120_201_000n,
  openPrice: 601_005n * 10n ** 9n,
}

function shape(
  name: string,
  request: WriteRequest,
  calls: readonly CallNode[],
  change: Partial<VerifyContext> = {},
): Shape {
  const context = { ...CONTEXT, ...change }
  const actsFor = context.sender === TRADER ? null : (TRADER as `0x${string}`)
  const data = writeInput({ actsFor, calls, tail: '00000000000000a7' })
  const transaction = { to: DIAMOND, data, value: '0', chainId: CHAIN_ID, gas: '500000', expiresAt: 1 } as const
  const answer = request.operation === 'updatePosition' ? { position: request.position } : { order: answered(request) }
  return { name, request, prepared: { ...answer, transaction }, context }
}

function answered(request: WriteRequest): Order {
  if ('order' in request) return request.order
  return { ...SAMPLE_ORDER, side: request.operation === 'createOrder' ? request.body.side : 'short' }
}

const create = (body: Partial<CreateOrderRequest>): WriteRequest => ({
  operation: 'createOrder',
  body: { ...MARKET, ...body },
})

const close = (body: { size?: string; slippage?: string }): WriteRequest => ({
  operation: 'closePosition',
  position: SAMPLE_POSITION,
  body,
})

const change = (body: Extract<WriteRequest, { operation: 'updatePosition' }>['body']): WriteRequest => ({
  operation: 'updatePosition',
  position: SAMPLE_POSITION,
  body,
})

const EXPECTED = 601_005n * 10n ** 9n

/** Every kind of transaction that the service prepares. */
export const SAMPLE_SHAPES: readonly Shape[] = [
  shape('market', create({}), [openTrade(MARKET_TRADE, 1000)]),
  shape('market by the trader itself', create({}), [openTrade(MARKET_TRADE, 1000)], { sender: TRADER }),
  shape('market at a price, short', create({ price: '60000', side: 'short', slippage: '0.25' }), [
    openTrade({ ...MARKET_TRADE, long: false, openPrice: 60_000n * E10, collateralAmount: 120_000_000n }, 250),
  ]),
  shape('limit with stops', create({ type: 'limit', price: '59000.5', sl: '55000', tp: '70000', leverage: '12.5' }), [
    openTrade(
      {
        long: true,
        leverage: 12_500,
        tradeType: 1,
        openPrice: 590_005n * 10n ** 9n,
        collateralAmount: 94_400_800n,
        sl: 55_000n * E10,
        tp: 70_000n * E10,
      },
      1000,
    ),
  ]),
  shape(
    'stop in another token',
    create({ type: 'stop', price: '61000', collateral: 'WETH', leverage: '3' }),
    // Collateral: 0.02 x 61,000 / 3 / 2,500, rounded down.
    [
      openTrade(
        {
          long: true,
          leverage: 3000,
          tradeType: 2,
          openPrice: 61_000n * E10,
          collateralAmount: 162_666_666_666_666_666n,
          collateralIndex: 2,
        },
        1000,
      ),
    ],
    { collateral: WETH },
  ),
  shape(
    'new price and take profit',
    { operation: 'updateOrder', order: SAMPLE_ORDER, body: { price: '66000', tp: '50000' } },
    [{ name: 'updateOpenOrder', args: [4, 66_000n * E10, 50_000n * E10, 70_000n * E10, 1500] }],
  ),
  shape('new size', { operation: 'updateOrder', order: SAMPLE_ORDER, body: { size: '0.03', sl: '0' } }, [
    { name: 'cancelOpenOrder', args: [4] },
    openTrade(
      { long: false, leverage: 20_000, tradeType: 1, openPrice: 65_000n * E10, collateralAmount: 97_500_000n },
      1500,
    ),
  ]),
  shape('cancel', { operation: 'cancelOrder', order: SAMPLE_ORDER }, [{ name: 'cancelOpenOrder', args: [4] }]),
  shape('reclaim', { operation: 'cancelOrder', order: TIMED_OUT }, [{ name: 'cancelOrderAfterTimeout', args: [5] }]),
  shape('reclaim two closes', { operation: 'cancelOrder', order: { ...TIMED_OUT, side: 'short', reduceOnly: true } }, [
    { name: 'cancelOrderAfterTimeout', args: [7] },
    { name: 'cancelOrderAfterTimeout', args: [8] },
  ]),
  shape('close', close({}), [{ name: 'closeTradeMarket', args: [2, EXPECTED] }]),
  shape('close a part', close({ size: '0.02' }), [
    { name: 'decreasePositionSize', args: [2, 120_000_000n, 0, EXPECTED] },
  ]),
  shape('close a part with slippage', close({ size: '0.02', slippage: '2' }), [
    { name: 'updateMaxClosingSlippageP', args: [2, 2000] },
    { name: 'decreasePositionSize', args: [2, 120_000_000n, 0, EXPECTED] },
  ]),
  shape('close with slippage', close({ slippage: '0.5' }), [
    { name: 'updateMaxClosingSlippageP', args: [2, 500] },
    { name: 'closeTradeMarket', args: [2, EXPECTED] },
  ]),
  shape('reduce two positions', create({ side: 'short', size: '0.055', reduceOnly: true }), [
    { name: 'closeTradeMarket', args: [2, EXPECTED] },
    { name: 'decreasePositionSize', args: [3, 30_000_000n, 0, EXPECTED] },
  ]),
  shape('stop loss', change({ sl: '56000' }), [{ name: 'updateSl', args: [2, 56_000n * E10] }]),
  shape('no take profit', change({ tp: '0' }), [{ name: 'updateTp', args: [2, 0n] }]),
  shape('stop loss and take profit', change({ sl: '56000', tp: '66000' }), [
    { name: 'updateSl', args: [2, 56_000n * E10] },
    { name: 'updateTp', args: [2, 66_000n * E10] },
  ]),
  shape('leverage', change({ leverage: '8.5' }), [{ name: 'updateLeverage', args: [2, 8500] }]),
  // Leverage: 300 x 10 / 370 and 300 x 10 / 259, rounded down.
  shape('more collateral', change({ collateral: { action: 'add', amount: '70' } }), [
    { name: 'updateLeverage', args: [2, 8108] },
  ]),
  shape('less collateral', change({ collateral: { action: 'remove', amount: '41' } }), [
    { name: 'updateLeverage', args: [2, 11_583] },
  ]),
]
