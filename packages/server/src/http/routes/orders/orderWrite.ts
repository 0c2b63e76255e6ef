import type { FastifyRequest } from 'fastify'
import type { ChainOrders } from '../../../orders/chainOrders.ts'
import { refuseUndelegated } from '../../../orders/delegation.ts'
import type { SignedWrite } from '../../../orders/signedWrite.ts'
import type { SignedOperation } from '../../../signatures/signedOperations.ts'
import { requirePrivateWrite, signedWriteOf, type WriteContext } from '../../hooks/privateWrite.ts'

/** What the writes to orders and positions work with. */
export interface OrderWriteContext extends WriteContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly ordersOf: (slug: string) => ChainOrders
}

export interface OrderRoute {
  readonly Params: { readonly chain: string; readonly id: string }
}

/** The options of such a route. A body that breaks its schema is refused by `enterWrite`, where its turn is. */
export function orderWrite(context: OrderWriteContext, operation: SignedOperation) {
  return { attachValidation: true, preValidation: requirePrivateWrite(context, operation) } as const
}

/** The first step of every such route. An agent that is not the delegate is told that before anything about its body. */
export async function enterWrite(
  context: OrderWriteContext,
  request: FastifyRequest,
): Promise<{ readonly orders: ChainOrders; readonly write: SignedWrite }> {
  const orders = context.ordersOf((request.params as { chain: string }).chain)
  const write = signedWriteOf(request)
  if (request.validationError !== undefined) {
    await refuseUndelegated(orders, write)
    throw request.validationError
  }
  return { orders, write }
}
