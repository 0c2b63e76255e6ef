import type { Order, PreparedOrder, PreparedTransaction, UpdateOrderRequest, Warning } from '@bezel/protocol/wire'
import { OrderSubmitReportError } from '../errors/orderErrors.ts'
import { decodedCalls, type DecodedCall } from '../verify/decodedCalls.ts'
import { queryOf, type ApiCall, type RetryPolicy, type Transport } from '../http/createTransport.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import { createBatches, type Batches } from './createBatches.ts'
import { executeWrite, proveWrite, sendProven, type VerifyOptions, type WriteSetup } from './executeWrite.ts'
import type { NewOrder } from './newOrder.ts'
import { goalOf, trackOrder, type OrderGoal, type TrackedOrder } from './trackOrder.ts'

/** Orders of the trader: prepare them only, or go the whole way from the request to an order that is tracked. */
export interface Orders {
  /** Reads an order. */
  get(id: string): Promise<Order>
  /** Reads the order that was created with a `clientId`. Throws `ORDER_NOT_FOUND` when nothing was stored under it. */
  getByClientId(clientId: string): Promise<Order>
  /** Prepares an order and sends nothing: sign and send the transaction yourself, and report its hash with `submit`. */
  prepare(request: NewOrder): Promise<PreparedOrder>
  /**
   * Reports the hash of a sent transaction, in place of any hash reported before. Optional, because the service watches
   * the chain too. A hash that no node knows after 10 seconds leaves the order `prepared`, with its `txHash` shown.
   */
  submit(id: string, txHash: `0x${string}`): Promise<Order>
  /**
   * Prepares, verifies, sends and reports an order. With a `clientId` a lost answer is asked for again, and nothing is
   * ordered twice.
   */
  create(request: NewOrder, options?: VerifyOptions): Promise<TrackedOrder>
  /**
   * Prepares and verifies an order and stops there, so that its user sees what will be signed. `send` of the answer
   * goes on as `create` does. Throws `UnverifiedTransactionError`.
   */
  prepareVerified(request: NewOrder, options?: VerifyOptions): Promise<VerifiedOrder>
  /** Prepares a change of an open order and sends nothing. */
  prepareUpdate(id: string, changes: UpdateOrderRequest): Promise<PreparedOrder>
  /** Changes an open order: prepares, verifies, sends and reports. */
  update(id: string, changes: UpdateOrderRequest, options?: VerifyOptions): Promise<TrackedOrder>
  /** Prepares the cancellation of an order and sends nothing. */
  prepareCancel(id: string): Promise<PreparedOrder>
  /** Cancels an order: prepares, verifies, sends and reports. Wait for the end with `wait`. */
  cancel(id: string, options?: VerifyOptions): Promise<TrackedOrder>
  /** Prepares one page of the cancellation of all orders and sends nothing. `next` leads to the following page. */
  prepareCancelAll: Batches['prepareCancelAll']
  /**
   * Ends all orders, or those of a market: cancels resting ones, reclaims timed-out ones and lets prepared ones expire.
   * An order that can't be ended is left out and named.
   */
  cancelAll: Batches['cancelAll']
  /** Returns an order that can be waited for, by its id or record. */
  track(of: string | Order): Promise<TrackedOrder>
}

/** An order whose transaction was verified and is not sent yet. */
export interface VerifiedOrder {
  /** The order, prepared. */
  readonly order: Order
  /** Transaction to send; null when nothing has to reach the chain. */
  readonly transaction: PreparedTransaction | null
  /** Calls of the transaction in words and whole units; empty when there is no transaction. */
  readonly calls: readonly DecodedCall[]
  /** Differences between what was asked and what will happen, as the service told them; usually none. */
  readonly warnings: readonly Warning[]
  /** Sends and reports it. It is sent once: a repeat after success returns the same transaction. */
  send(): Promise<TrackedOrder>
}

/** The part of orders that closing a position needs. */
export interface OrderExecution {
  readonly execute: (
    request: WriteRequest,
    prepare: () => Promise<PreparedOrder>,
    options: VerifyOptions | undefined,
  ) => Promise<TrackedOrder>
  readonly batches: Batches
}

/** Creates the orders part of a client. */
export function createOrders(transport: Transport, root: string, context: WriteSetup): Orders & OrderExecution {
  const write = <Answer>(
    of: Pick<ApiCall, 'operationId' | 'method' | 'path' | 'body'>,
    retry: RetryPolicy = 'answered',
  ): Promise<Answer> => transport.call<Answer>({ ...of, path: root + of.path, auth: 'agent', retry })
  const read = (operationId: string, path: string): Promise<Order> =>
    transport.call({ operationId, method: 'GET', path: `${root}/orders${path}`, auth: 'read', retry: 'read' })
  const get = (id: string): Promise<Order> => read('getOrder', `/${id}`)
  const prepareCancel = (id: string, retry?: RetryPolicy): Promise<PreparedOrder> =>
    write({ operationId: 'cancelOrder', method: 'DELETE', path: `/orders/${id}` }, retry)
  const tracked = (order: Order, txHash: `0x${string}` | null, goal?: OrderGoal): TrackedOrder =>
    trackOrder({ order, txHash, goal, read: get })

  const { execute, verified } = createExecution(context, {
    get,
    submit: (id, txHash) => orders.submit(id, txHash),
    withdraw: (id) => prepareCancel(id, 'never'),
  })
  const batches = createBatches({
    setup: context,
    // Asked again, a batch prepares the same once more, and what was prepared before expires unsent.
    write: (call) => write(call, 'idempotent'),
    writeOne: (call) => write(call),
    submit: async (id, txHash) => context.reportHashes !== false && orders.submit(id, txHash),
    tracked,
  })
  const { prepareCancelAll, cancelAll } = batches
  const orders: Orders & OrderExecution = {
    get,
    getByClientId: (clientId) => read('getOrderByClientId', queryOf({ clientId })),
    batches,
    prepareCancelAll,
    cancelAll,
    prepare: (body) =>
      write(
        { operationId: 'createOrder', method: 'POST', path: '/orders', body },
        body.clientId === undefined ? 'answered' : 'idempotent',
      ),
    submit: (id, txHash) =>
      write({ operationId: 'submitOrder', method: 'POST', path: `/orders/${id}/submit`, body: { txHash } }),
    prepareUpdate: (id, body) => write({ operationId: 'updateOrder', method: 'PATCH', path: `/orders/${id}`, body }),
    prepareCancel: (id) => prepareCancel(id),
    execute,
    prepareVerified: (body, options) =>
      verified({ operation: 'createOrder', body }, () => orders.prepare(body), options),
    create: (body, options) => orders.execute({ operation: 'createOrder', body }, () => orders.prepare(body), options),
    async update(id, body, options) {
      const request = { operation: 'updateOrder', order: await get(id), body } as const
      return orders.execute(request, () => orders.prepareUpdate(id, body), options)
    },
    async cancel(id, options) {
      const request = { operation: 'cancelOrder', order: await get(id) } as const
      return orders.execute(request, () => orders.prepareCancel(id), options)
    },
    track: async (of) => tracked(typeof of === 'string' ? await get(of) : of, null),
  }
  return orders
}

/** The ways from a request for an order to one that is proven, and to one that is sent. */
interface Execution extends Pick<OrderExecution, 'execute'> {
  readonly verified: (
    request: WriteRequest,
    prepare: () => Promise<PreparedOrder>,
    options: VerifyOptions | undefined,
  ) => Promise<VerifiedOrder>
}

function createExecution(
  context: WriteSetup,
  of: {
    readonly get: (id: string) => Promise<Order>
    readonly submit: Orders['submit']
    readonly withdraw: (id: string) => Promise<unknown>
  },
): Execution {
  const withdrawalOf =
    (request: WriteRequest) =>
    async ({ order }: PreparedOrder): Promise<unknown> =>
      isOfThisCall(request) && of.withdraw(order.id)

  /** Reports the hash of a sent write, unless the client does not, and returns its order to wait for. */
  async function report(request: WriteRequest, prepared: PreparedOrder, txHash: `0x${string}` | null) {
    const { order, warnings } = prepared
    const { watchRevert } = context.broadcaster
    const sent = (as: Order): TrackedOrder =>
      trackOrder({ order: as, txHash, warnings, goal: goalOf(request, prepared), watchRevert, read: of.get })
    if (txHash === null || context.reportHashes === false) return sent(order)
    try {
      return sent(await of.submit(order.id, txHash))
    } catch (error) {
      throw new OrderSubmitReportError(order.id, txHash, error)
    }
  }

  return {
    async execute(request, prepare, options) {
      const withdraw = withdrawalOf(request)
      const { prepared, txHash } = await executeWrite(context, { request, prepare, options, withdraw })
      return report(request, prepared, txHash)
    },
    async verified(request, prepare, options) {
      const proof = { request, prepare, options, withdraw: withdrawalOf(request) }
      const { prepared, facts } = await proveWrite(context, proof)
      const { order, transaction, warnings = [] } = prepared
      return {
        order,
        transaction,
        warnings,
        calls: transaction === null ? [] : decodedCalls(transaction.data, facts),
        send: async () => report(request, prepared, await sendProven(context, proof, prepared)),
      }
    },
  }
}

/**
 * Returns true when the order of a write can be of this call alone, so that nobody else can have sent its transaction.
 * A `clientId` may be that of an earlier call.
 */
function isOfThisCall(request: WriteRequest): boolean {
  if (request.operation === 'createOrder') return request.body.clientId === undefined
  return request.operation === 'closePosition'
}
