import type { Order, OrderStatus, PreparedOrder, Warning } from '@bezel/protocol/wire'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FillTimeoutError, OrderNotChangedError, OrderNotFilledError } from '../errors/orderErrors.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'
import { TransactionRevertedError } from '../errors/transactionErrors.ts'
import { SAMPLE_ORDER } from '../testing/sampleFacts.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import { createBroadcaster } from './createBroadcaster.ts'
import { goalOf, trackOrder } from './trackOrder.ts'

const LIMIT: Order = { ...SAMPLE_ORDER, status: 'prepared' }
const MARKET: Order = { ...LIMIT, type: 'market', price: null }
const OPEN: Order = SAMPLE_ORDER
const TERMS = { market: 'BTC/USD', side: 'short', type: 'market', size: '0.02', leverage: '20' } as const
const PLACE: WriteRequest = { operation: 'createOrder', body: TERMS }
const CANCEL: WriteRequest = { operation: 'cancelOrder', order: OPEN }
const update = (body: Partial<Order>): WriteRequest => ({ operation: 'updateOrder', order: OPEN, body: body as object })

/** Waits for an order of which each read tells the next state, and the last one for ever. */
function wait(
  request: WriteRequest,
  from: Order,
  told: readonly (OrderStatus | Partial<Order> | Error)[],
  prepared: Pick<PreparedOrder, 'order' | 'warnings'> = { order: from },
): Promise<Order> {
  const left = [...told]
  let now = from
  async function read(): Promise<Order> {
    const next = left.shift() ?? {}
    if (next instanceof Error) throw next
    now = { ...now, ...(typeof next === 'string' ? { status: next } : next) }
    return now
  }
  const tracked = trackOrder({ order: from, txHash: null, goal: goalOf(request, prepared), read })
  return tracked.wait({ pollMs: 1, timeoutMs: 5_000 })
}

const statusOf = async (waiting: Promise<Order>): Promise<OrderStatus> => (await waiting).status

describe('waiting for what was asked of an order', () => {
  it('ends with the fill of a market order and with a resting order in its place', async () => {
    assert.equal(await statusOf(wait(PLACE, MARKET, ['pending', 'open', 'filled'])), 'filled')
    assert.equal(await statusOf(wait(PLACE, LIMIT, ['pending', 'open', 'filled'])), 'open')
    assert.equal(await statusOf(wait(PLACE, LIMIT, ['filled'])), 'filled', 'it was executed at once')
    const outage = new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: '/', what: 'no answer' })
    assert.equal(await statusOf(wait(PLACE, MARKET, ['pending', outage, 'filled'])), 'filled')
    for (const end of ['rejected', 'timed_out', 'canceled', 'expired'] as const) {
      await assert.rejects(wait(PLACE, MARKET, ['pending', end]), OrderNotFilledError, end)
      await assert.rejects(wait(PLACE, LIMIT, ['pending', end]), OrderNotFilledError, end)
    }
  })

  it('ends with the end of a cancelled order, and says when it was filled before', async () => {
    assert.equal(await statusOf(wait(CANCEL, OPEN, ['open', 'canceled'])), 'canceled')
    assert.equal(await statusOf(wait(CANCEL, OPEN, ['expired'])), 'expired')
    const timedOut: Order = { ...MARKET, status: 'timed_out' }
    assert.equal(await statusOf(wait(CANCEL, timedOut, ['timed_out', 'canceled'])), 'canceled')
    assert.equal(await statusOf(wait(CANCEL, timedOut, ['rejected'])), 'rejected', 'answered after all')
    const late: Order = { ...timedOut, reduceOnly: true }
    const reclaim: WriteRequest = { operation: 'cancelOrder', order: late }
    assert.equal(await statusOf(wait(reclaim, late, ['timed_out', 'canceled'])), 'canceled')
    assert.equal(await statusOf(wait(reclaim, late, ['filled'])), 'filled', 'the position is closed after all')
    const opening: WriteRequest = { operation: 'cancelOrder', order: timedOut }
    await assert.rejects(wait(opening, timedOut, ['filled']), OrderNotChangedError)
    const fill = { positionId: '77' } as NonNullable<Order['fill']>
    await assert.rejects(wait(CANCEL, OPEN, [{ status: 'filled', fill }]), (error: OrderNotChangedError) => {
      assert.ok(error instanceof OrderNotChangedError)
      assert.deepEqual([error.code, error.order.status], ['ORDER_NOT_CHANGED', 'filled'])
      assert.match(error.message, /too late: order 9 is filled\. Its position is 77\./)
      return true
    })
  })

  it('ends when a change is in force, as the answer to it showed the terms', async () => {
    const order = { ...OPEN, price: '64000', tp: null }
    const moved = wait(update({ price: '64000.0', tp: '0' }), OPEN, [{}, {}, { price: '64000' }], { order })
    assert.equal((await moved).price, '64000')
    const warning = { code: 'sl_clamped', field: 'sl', asked: '90000', value: '68123.5', message: '' } as Warning
    const clamped = { order: { ...OPEN, sl: '90000' }, warnings: [warning] }
    assert.equal((await wait(update({ sl: '90000' }), OPEN, [{}, { sl: '68123.5' }], clamped)).sl, '68123.5')
    const removed = { order: { ...OPEN, sl: null } }
    assert.equal((await wait(update({ sl: '0' }), OPEN, [{}, { sl: null }], removed)).sl, null)
    await assert.rejects(wait(update({ price: '64000' }), OPEN, ['filled'], { order }), OrderNotChangedError)
    await assert.rejects(wait(update({ price: '64000' }), OPEN, ['canceled'], { order }), OrderNotChangedError)
  })

  it('says that a change or a cancellation reverted, and leaves a new order to its status', async () => {
    const HASH = `0x${'12'.repeat(32)}` as const
    /** Waits for a write whose transaction has reverted, which is known after some reads. */
    function waitReverted(request: WriteRequest, told: readonly OrderStatus[], knownAt: number): Promise<Order> {
      const left = [...told]
      let now = request.operation === 'createOrder' ? MARKET : OPEN
      let looks = 0
      const watchRevert = () => async (): Promise<boolean> => {
        looks += 1
        return looks > knownAt
      }
      async function read(): Promise<Order> {
        now = { ...now, status: left.shift() ?? now.status }
        return now
      }
      const changed = request.operation === 'updateOrder' ? { ...now, ...request.body } : now
      const goal = goalOf(request, { order: changed })
      return trackOrder({ order: now, txHash: HASH, goal, watchRevert, read }).wait({ pollMs: 1, timeoutMs: 5_000 })
    }
    for (const request of [CANCEL, update({ price: '64000' })]) {
      await assert.rejects(waitReverted(request, ['open', 'open'], 2), (error: TransactionRevertedError) => {
        assert.ok(error instanceof TransactionRevertedError)
        assert.deepEqual([error.txHash, error.order?.status], [HASH, 'open'])
        assert.match(error.message, /reverted, so nothing of it was done\. Order 9 is open: read it again/)
        return true
      })
      await assert.rejects(waitReverted(request, ['open', 'filled'], 2), OrderNotChangedError, 'it says more')
    }
    assert.equal(await statusOf(waitReverted(PLACE, ['pending', 'filled'], 0)), 'filled')
  })

  it('goes on when the node does not answer, and asks it no second time meanwhile', async () => {
    const HASH = `0x${'12'.repeat(32)}` as const
    let asked = 0
    const isReverted = (): Promise<never> => {
      asked += 1
      return new Promise(() => undefined)
    }
    const sender = { address: HASH, sendTransaction: async () => HASH, isReverted }
    const { watchRevert } = createBroadcaster(sender, Date.now)
    const left: OrderStatus[] = ['open', 'open', 'canceled']
    const read = async (): Promise<Order> => ({ ...OPEN, status: left.shift() ?? 'open' })
    const tracked = trackOrder({ order: OPEN, txHash: HASH, goal: goalOf(CANCEL, { order: OPEN }), watchRevert, read })
    assert.equal(await statusOf(tracked.wait({ pollMs: 1, timeoutMs: 5_000 })), 'canceled')
    assert.equal(asked, 1)
    await tracked.refresh()
    await assert.rejects(tracked.wait({ pollMs: 5_000, timeoutMs: 5 }), FillTimeoutError)
  })

  it('tells the look at the receipt whether the order was read, whatever onProgress returns', async () => {
    const HASH = `0x${'12'.repeat(32)}` as const
    const outage = new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: '/', what: 'no answer' })
    const told: boolean[] = []
    const watchRevert = () => async (of: { readonly isRead: boolean }) => told.push(of.isRead) > 3
    let reads = 0
    async function read(): Promise<Order> {
      reads += 1
      if (reads === 2) throw outage
      return OPEN
    }
    const tracked = trackOrder({ order: OPEN, txHash: HASH, goal: goalOf(CANCEL, { order: OPEN }), watchRevert, read })
    const seen: Order[] = []
    const options = { pollMs: 1, timeoutMs: 5_000, onProgress: (now: Order) => seen.push(now) }
    await assert.rejects(tracked.wait(options), TransactionRevertedError)
    assert.deepEqual([told, seen.length], [[false, true, false, true], 2])
  })

  it('does not last for ever', async () => {
    const tracked = trackOrder({ order: MARKET, txHash: null, read: async () => ({ ...MARKET, status: 'pending' }) })
    await assert.rejects(tracked.wait({ pollMs: 1, timeoutMs: 5 }), FillTimeoutError)
  })
})
