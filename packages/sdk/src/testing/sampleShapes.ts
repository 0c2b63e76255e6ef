import type { CreateOrderRequest, Order, Position, PreparedTransaction } from '@bezel/protocol/wire'
import { zeroAddress } from 'viem'
import type { VerifyContext, WriteRequest } from '../verify/verifyContext.ts'
import { writeInput, type CallNode } from './callTree.ts'
import {
  CHAIN_ID,
  CONTEXT,
  DIAMOND,
  E10,
  MARKET,
  SAMPLE_ORDER,
  SAMPLE_POSITION,
  SELL,
  TIMED_OUT,
  TRADER,
  WETH,
} from './sampleFacts.ts'
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

/** A trade of 0.02 BTC at 60,100.5 x 1.0005 with leverage 10, rounded up. */
const MARKET_TRADE = {
  long: true,
  leverage: 10_000,
  tradeType: 0,
  collateralAmount: 120_261_101n,
  openPrice: 601_005n * 10n ** 9n,
}

const RESTING_TRADE = { long: false, leverage: 20_000, tradeType: 1 }

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
  const isOfPosition = request.operation === 'updatePosition' || request.operation === 'cancelPositionUpdate'
  const answer = isOfPosition ? { position: request.position } : { order: answered(request) }
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

const change = (
  body: Extract<WriteRequest, { operation: 'updatePosition' }>['body'],
  position = SAMPLE_POSITION,
): WriteRequest => ({
  operation: 'updatePosition',
  position,
  body,
})

const update = (body: Extract<WriteRequest, { operation: 'updateOrder' }>['body']): WriteRequest => ({
  operation: 'updateOrder',
  order: SAMPLE_ORDER,
  body,
})

/** The position with a change of leverage that nobody answered: request 9 of the chain. */
const STUCK: Position = {
  ...SAMPLE_POSITION,
  pendingUpdate: {
    kind: 'leverage',
    leverage: '5',
    collateralDelta: '300',
    txHash: `0x${'ab'.repeat(32)}`,
    createdAt: 1,
    timesOutAtBlock: 300,
    status: 'timed_out',
  },
}

const RECLAIM: CallNode = { name: 'cancelOrderAfterTimeout', args: [9] }

const EXPECTED = 601_005n * 10n ** 9n

/** Every kind of transaction that the service prepares. */
export const SAMPLE_SHAPES: readonly Shape[] = [
  shape('market', create({}), [openTrade(MARKET_TRADE, 1000)]),
  shape('market by the trader itself', create({}), [openTrade(MARKET_TRADE, 1000)], { sender: TRADER }),
  // The price only protects: 0.02 x 60,100 x 0.9995 / 10, whatever it is.
  shape(
    'market at a price, short',
    create({ price: '60000', side: 'short', slippage: '0.25' }),
    [openTrade({ ...MARKET_TRADE, long: false, openPrice: 60_000n * E10, collateralAmount: 120_139_900n }, 250)],
    SELL,
  ),
  shape('market with a far protective price', create({ price: '114000' }), [
    openTrade({ ...MARKET_TRADE, openPrice: 114_000n * E10, collateralAmount: 120_260_100n }, 1000),
  ]),
  shape('limit with stops', create({ type: 'limit', price: '59000.5', sl: '55000', tp: '70000', leverage: '12.5' }), [
    openTrade(
      {
        long: true,
        leverage: 12_500,
        tradeType: 1,
        openPrice: 590_005n * 10n ** 9n,
        // 0.02 x 59,000.5 x 1.0005 / 12.5, rounded up.
        collateralAmount: 94_448_001n,
        sl: 55_000n * E10,
        tp: 70_000n * E10,
      },
      1000,
    ),
  ]),
  shape(
    'stop in another token',
    create({ type: 'stop', price: '61000', collateral: 'WETH', leverage: '3' }),
    // Collateral: 0.02 x 61,000 x 1.0005 / 3 / 2,500.
    [
      openTrade(
        {
          long: true,
          leverage: 3000,
          tradeType: 2,
          openPrice: 61_000n * E10,
          collateralAmount: 162_748_000_000_000_000n,
          collateralIndex: 2,
        },
        1000,
      ),
    ],
    { collateral: WETH },
  ),
  // The market is below the trigger already, so it executes there: 0.02 x 60,100 x 1.0005 / 10.
  shape('limit that the market has passed', create({ type: 'limit', price: '65000' }), [
    openTrade({ ...MARKET_TRADE, tradeType: 1, openPrice: 65_000n * E10, collateralAmount: 120_260_100n }, 1000),
  ]),
  shape(
    'new price and take profit',
    update({ price: '66000', tp: '50000' }),
    [
      { name: 'cancelOpenOrder', args: [4] },
      openTrade(
        {
          ...RESTING_TRADE,
          openPrice: 66_000n * E10,
          tp: 50_000n * E10,
          sl: 70_000n * E10,
          // 0.02 x 66,000 x 0.9995 / 20.
          collateralAmount: 65_967_000n,
        },
        1500,
      ),
    ],
    SELL,
  ),
  shape(
    'new price for which the collateral is enough',
    update({ price: '65000.5' }),
    [{ name: 'updateOpenOrder', args: [4, 650_005n * 10n ** 9n, 0n, 70_000n * E10, 1500] }],
    SELL,
  ),
  shape('new stops of an order', update({ sl: '71000', tp: '50000' }), [
    { name: 'updateOpenOrder', args: [4, 65_000n * E10, 50_000n * E10, 71_000n * E10, 1500] },
  ]),
  // 0.03 x 65,000 x 0.9995 / 20.
  shape(
    'new size',
    update({ size: '0.03', sl: '0' }),
    [
      { name: 'cancelOpenOrder', args: [4] },
      openTrade({ ...RESTING_TRADE, openPrice: 65_000n * E10, collateralAmount: 97_451_250n }, 1500),
    ],
    SELL,
  ),
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
  shape('close over a change that timed out', { operation: 'closePosition', position: STUCK, body: {} }, [
    RECLAIM,
    { name: 'closeTradeMarket', args: [2, EXPECTED] },
  ]),
  shape(
    'close a part with slippage over a change that timed out',
    { operation: 'closePosition', position: STUCK, body: { size: '0.02', slippage: '2' } },
    [
      RECLAIM,
      { name: 'updateMaxClosingSlippageP', args: [2, 2000] },
      { name: 'decreasePositionSize', args: [2, 120_000_000n, 0, EXPECTED] },
    ],
  ),
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
  shape('leverage over a change that timed out', change({ leverage: '8.5' }, STUCK), [
    RECLAIM,
    { name: 'updateLeverage', args: [2, 8500] },
  ]),
  shape('reclaim of a change', { operation: 'cancelPositionUpdate', position: STUCK }, [RECLAIM]),
  // Leverage: 300 x 10 / 370 rounded up and 300 x 10 / 259 rounded down, so that less moves than was said.
  shape('more collateral', change({ collateral: { action: 'add', amount: '70' } }), [
    { name: 'updateLeverage', args: [2, 8109] },
  ]),
  shape('less collateral', change({ collateral: { action: 'remove', amount: '41' } }), [
    { name: 'updateLeverage', args: [2, 11_583] },
  ]),
]
