import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { zeroAddress } from 'viem'
import type { Order, PreparedOrder } from '@bezel/protocol/wire'
import { WrongChainError } from '../errors/bezelError.ts'
import { BezelNodeError, BroadcastError } from '../errors/broadcastError.ts'
import { TransactionRevertedError, UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { ApiCall } from '../http/createTransport.ts'
import { writeInput, type CallNode } from '../testing/callTree.ts'
import { CHAIN_ID, CONTEXT, DIAMOND, MARKET, SAMPLE_ORDER, SAMPLE_POSITION, TRADER } from '../testing/sampleFacts.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import { createOrders, type OrderExecution, type Orders } from './createOrders.ts'

const [CREATED, SENT] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const

const RESTING: Order = { ...SAMPLE_ORDER, txHash: CREATED }

const CANCEL: WriteRequest = { operation: 'cancelOrder', order: RESTING }

const CLOSE: WriteRequest = { operation: 'closePosition', position: SAMPLE_POSITION, body: {} }

function preparedOf(order: Order, ...calls: readonly CallNode[]): PreparedOrder {
  const data = writeInput({ actsFor: TRADER, calls, tail: '00000000000000a7' })
  return { order, transaction: { to: DIAMOND, data, value: '0', chainId: CHAIN_ID, gas: null, expiresAt: 1 } }
}

const CANCELLATION = preparedOf(RESTING, { name: 'cancelOpenOrder', args: [4] })

const CLOSING = preparedOf(
  { ...RESTING, id: '13', type: 'market', side: 'short', reduceOnly: true, status: 'prepared', txHash: null },
  { name: 'closeTradeMarket', args: [2, 601_005n * 10n ** 9n] },
)

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const

const OPENED: Order = { ...RESTING, id: '14', type: 'market', side: 'long', status: 'prepared', txHash: null }

/** The order of `ORDER` at 60,100.5 with a price impact of 0.05 %. */
const OPENING = preparedOf(OPENED, {
  name: 'openTrade',
  args: [
    {
      user: TRADER,
      index: 0,
      pairIndex: 0,
      leverage: 10_000,
      long: true,
      isOpen: true,
      collateralIndex: 3,
      tradeType: 0,
      collateralAmount: 120_261_101n,
      openPrice: 601_005n * 10n ** 9n,
      tp: 0n,
      sl: 0n,
      isCounterTrade: false,
      positionSizeToken: 0n,
      __placeholder: 0,
    },
    1_000,
    zeroAddress,
  ],
})

describe('a write of an order', () => {
  let asked: string[]
  /** Failure of the node and of the sender, if they are to fail. */
  let failing: { node?: Error; sender?: Error; withdrawal?: Error; chainId?: number }
  let execute: OrderExecution['execute']
  let orders: Orders
  /** Answer of the service to a new order. */
  let created: PreparedOrder
  let setup: { reportHashes?: boolean }

  beforeEach(() => {
    ;[asked, failing, created] = [[], {}, OPENING]
    const { market, collateral, onChain } = CONTEXT
    setup = {
      reportHashes: true,
      facts: {
        market: async () => market,
        collateral: async () => collateral,
        onChain: async () => (failing.node === undefined ? onChain : Promise.reject(failing.node)),
        markPrice: async () => (failing.node === undefined ? '60100' : Promise.reject(failing.node)),
        chainPrice: async () => undefined,
        impactP: async () => undefined,
      },
      broadcaster: {
        requireSender: () => ({ chainId: async () => failing.chainId ?? CHAIN_ID }),
        broadcast: async (_transaction: unknown, orderId: string) => {
          if (failing.sender !== undefined) throw new BroadcastError(failing.sender, { orderId })
          return SENT
        },
        watchRevert: () => async () => true,
      },
      agentAddress: () => CONTEXT.sender,
      traderOf: async () => TRADER,
      domain: async () => ({ chainId: CHAIN_ID, verifyingContract: DIAMOND }),
      positions: async () => [],
    } as never
    const transport = {
      call: async <Answer>({ operationId, path, retry }: ApiCall): Promise<Answer> => {
        asked.push(`${operationId} ${path} ${retry}`)
        if (operationId === 'cancelOrder' && failing.withdrawal !== undefined) throw failing.withdrawal
        return (operationId === 'createOrder' ? created : RESTING) as never
      },
    }
    const made = createOrders(transport, '/v1/base', setup as never)
    ;[execute, orders] = [made.execute, made]
  })

  /** Returns the error of a write, and what the service was asked for besides preparing it. */
  async function failureOf(request: WriteRequest, prepared: PreparedOrder): Promise<readonly [unknown, string[]]> {
    const error: unknown = await execute(request, async () => prepared, undefined).catch((reason: unknown) => reason)
    return [error, asked]
  }

  const WITHDRAWN = ['cancelOrder /v1/base/orders/13 never']

  it('is taken back when it was surely not sent', async () => {
    failing = { node: new BezelNodeError('eth_call', new Error('away')) }
    assert.deepEqual(await failureOf(CLOSE, CLOSING), [failing.node, WITHDRAWN])
    asked = []
    failing = { sender: new Error('insufficient funds'), withdrawal: new Error('not heard') }
    const [error, calls] = await failureOf(CLOSE, CLOSING)
    assert.ok(error instanceof BroadcastError, String(error))
    assert.deepEqual([error.reason, error.orderId, calls], ['no_gas', '13', WITHDRAWN])
  })

  it('is left alone when it may have been sent, or is not of this call alone', async () => {
    failing = { sender: new Error('socket hang up') }
    const [lost] = await failureOf(CLOSE, CLOSING)
    assert.ok(lost instanceof BroadcastError && lost.reason === 'unknown')
    failing = { sender: new Error('insufficient funds') }
    await failureOf(CANCEL, CANCELLATION)
    failing = { node: new BezelNodeError('eth_call', new Error('away')) }
    const named = { operation: 'createOrder', body: { ...MARKET, clientId: 'a' } } as const
    assert.deepEqual(await failureOf(named, CLOSING), [failing.node, []])
    // The same without a name can be of no other call.
    await failureOf({ operation: 'createOrder', body: MARKET }, CLOSING)
    assert.deepEqual(asked, WITHDRAWN)
  })

  it('is taken back when the sender is on another chain, whose facts say nothing of the service', async () => {
    failing = { chainId: 137 }
    const something = preparedOf(CLOSING.order, { name: 'cancelOpenOrder', args: [4] })
    const [error, calls] = await failureOf(CLOSE, something)
    assert.ok(error instanceof WrongChainError, String(error))
    assert.deepEqual(calls, WITHDRAWN)
  })

  it('gets no further signature when the service prepared something else', async () => {
    const [error, calls] = await failureOf(CLOSE, preparedOf(CLOSING.order, { name: 'cancelOpenOrder', args: [4] }))
    assert.ok(error instanceof UnverifiedTransactionError, String(error))
    assert.deepEqual(calls, [])
  })

  it('has the hash of its own transaction, and tells when that reverts', async () => {
    const tracked = await execute(CANCEL, async () => CANCELLATION, undefined)
    assert.deepEqual([tracked.txHash, tracked.order.txHash], [SENT, CREATED])
    assert.deepEqual(asked, ['submitOrder /v1/base/orders/9/submit answered'])
    await assert.rejects(tracked.wait(), (error: TransactionRevertedError) => {
      assert.ok(error instanceof TransactionRevertedError)
      return error.txHash === SENT && error.order?.id === '9'
    })
  })

  it('can be looked at between the proof and the sending, and is sent once', async () => {
    const verified = await orders.prepareVerified(ORDER)
    assert.deepEqual(asked, ['createOrder /v1/base/orders answered'])
    assert.deepEqual([verified.order.id, verified.warnings], ['14', []])
    const [call, ...others] = verified.calls
    assert.deepEqual(others, [])
    assert.equal(call?.name, 'openTrade')
    const shown = Object.fromEntries(call.fields.map(({ name, value }) => [name, value]))
    assert.deepEqual(shown, {
      user: TRADER,
      pairIndex: '0 (BTC/USD)',
      leverage: '10',
      long: 'true',
      collateralIndex: '3 (USDC)',
      tradeType: 'market',
      collateralAmount: '120.261101 USDC',
      openPrice: '60100.5',
      tp: 'none',
      sl: 'none',
      maxSlippageP: '1 %',
      referrer: 'none',
    })
    asked = []
    const tracked = await verified.send()
    assert.equal(tracked.txHash, SENT)
    assert.deepEqual(asked, ['submitOrder /v1/base/orders/14/submit answered'])
  })

  it('is shown to nobody when it is another than was asked for', async () => {
    created = preparedOf(OPENED, { name: 'cancelOpenOrder', args: [4] })
    await assert.rejects(orders.prepareVerified(ORDER), UnverifiedTransactionError)
    assert.deepEqual(asked, ['createOrder /v1/base/orders answered'])
  })

  it('is taken back when the wallet declines it after the look, unless it has a name', async () => {
    const declined = Object.assign(new Error('no'), { code: 4001 })
    const verified = await orders.prepareVerified(ORDER)
    failing = { sender: declined }
    await assert.rejects(verified.send(), (error: BroadcastError) => error.reason === 'declined')
    assert.deepEqual(asked.slice(1), ['cancelOrder /v1/base/orders/14 never'])
    failing = {}
    const named = await orders.prepareVerified({ ...ORDER, clientId: 'a' })
    ;[asked, failing] = [[], { sender: declined }]
    await assert.rejects(named.send(), BroadcastError)
    assert.deepEqual(asked, [])
    failing = {}
    assert.equal((await named.send()).txHash, SENT)
  })

  it('reports no hash where the client does not, and has it all the same', async () => {
    setup.reportHashes = false
    const tracked = await execute(CANCEL, async () => CANCELLATION, undefined)
    const opened = await (await orders.prepareVerified(ORDER)).send()
    assert.deepEqual([tracked.txHash, opened.txHash, opened.id], [SENT, SENT, '14'])
    assert.deepEqual(asked, ['createOrder /v1/base/orders answered'])
  })
})
