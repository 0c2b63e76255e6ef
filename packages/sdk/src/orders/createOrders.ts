import type { CreateOrderRequest, Order, PreparedOrder, UpdateOrderRequest } from '@bezel/protocol/wire'
import { OrderSubmitReportError } from '../errors/orderErrors.ts'
import type { ApiCall, RetryPolicy, Transport } from '../http/createTransport.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import { executeWrite, type VerifyOptions, type WriteSetup } from './executeWrite.ts'
import { trackOrder, type TrackedOrder } from './trackOrder.ts'

/** Orders of the trader: prepare them only, or go the whole way from the request to an order that is tracked. */
export interface Orders {
  /** Reads an order. */
  get(id: string): Promise<Order>
  /** Prepares an order and sends nothing: sign and send the transaction yourself, and report its hash with `submit`. */
  prepare(request: CreateOrderRequest): Promise<PreparedOrder>
  /**
   * Reports the hash of a sent transaction, in place of any hash reported before. Optional, because the service watches
   * the chain too. A hash that no node knows after 10 seconds leaves the order `prepared`, with its `txHash` shown.
   */
  submit(id: string, txHash: `0x${string}`): Promise<Order>
  /**
   * Prepares, verifies, sends and reports an order. With a `clientId` a lost answer is asked for again, and nothing is
   * ordered twice.
   */
  create(request: CreateOrderRequest, options?: VerifyOptions): Promise<TrackedOrder>
  /** Prepares a change of an open order and sends nothing. */
  prepareUpdate(id: string, changes: UpdateOrderRequest): Promise<PreparedOrder>
  /** Changes an open order: prepares, verifies, sends and reports. */
  update(id: string, changes: UpdateOrderRequest, options?: VerifyOptions): Promise<TrackedOrder>
  /** Prepares the cancellation of an order and sends nothing. */
  prepareCancel(id: string): Promise<PreparedOrder>
  /**
   * Cancels an order: prepares, verifies, sends and reports. Wait for the end with `waitFor(['canceled', 'expired'])`.
   */
  cancel(id: string, options?: VerifyOptions): Promise<TrackedOrder>
  /** Returns an order that can be waited for, by its id or record. */
  track(of: string | Order): Promise<TrackedOrder>
}

/** The part of orders that closing a position needs. */
export interface OrderExecution {
  readonly execute: (
    request: WriteRequest,
    prepare: () => Promise<PreparedOrder>,
    options: VerifyOptions | undefined,
  ) => Promise<TrackedOrder>
}

/** Creates the orders part of a client. */
export function createOrders(transport: Transport, root: string, context: WriteSetup): Orders & OrderExecution {
  const write = <Answer>(
    of: Pick<ApiCall, 'operationId' | 'method' | 'path' | 'body'>,
    retry: RetryPolicy = 'answered',
  ): Promise<Answer> => transport.call<Answer>({ ...of, path: root + of.path, auth: 'agent', retry })
  const get = (id: string): Promise<Order> =>
    transport.call({
      operationId: 'getOrder',
      method: 'GET',
      path: `${root}/orders/${id}`,
      auth: 'read',
      retry: 'read',
    })
  const tracked = (order: Order, txHash: `0x${string}` | null, warnings?: PreparedOrder['warnings']): TrackedOrder =>
    trackOrder({ order, txHash, warnings, read: get })

  const orders: Orders & OrderExecution = {
    get,
    prepare: (body) =>
      write(
        { operationId: 'createOrder', method: 'POST', path: '/orders', body },
        body.clientId === undefined ? 'answered' : 'idempotent',
      ),
    submit: (id, txHash) =>
      write({ operationId: 'submitOrder', method: 'POST', path: `/orders/${id}/submit`, body: { txHash } }),
    prepareUpdate: (id, body) => write({ operationId: 'updateOrder', method: 'PATCH', path: `/orders/${id}`, body }),
    prepareCancel: (id) => write({ operationId: 'cancelOrder', method: 'DELETE', path: `/orders/${id}` }),
    async execute(request, prepare, options) {
      const { prepared, txHash } = await executeWrite(context, { request, prepare, options })
      const { order, warnings } = prepared
      if (txHash === null) return tracked(order, null, warnings)
      try {
        return tracked(await orders.submit(order.id, txHash), txHash, warnings)
      } catch (error) {
        throw new OrderSubmitReportError(order.id, txHash, error)
      }
    },
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
