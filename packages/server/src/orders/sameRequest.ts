import { ApiError } from '@bezel/protocol'
import type { OrderRequest } from '../trading/orders/orderModel.ts'

/** What a caller decides; the rest follows from these and from the chain as it was then. */
const ASKED = [
  'market',
  'side',
  'type',
  'size',
  'leverage',
  'price',
  'collateral',
  'sl',
  'tp',
  'reduceOnly',
  'slippage',
] as const satisfies readonly (keyof OrderRequest)[]

/** What a close stores of these is the position's, so what was asked is not known any more. */
const TAKEN_FROM_POSITION: ReadonlySet<keyof OrderRequest> = new Set(['leverage', 'collateral'])

/** Throws `IDEMPOTENCY_CONFLICT` when a clientId stands for another order already. Both are canonical and with defaults filled in. */
export function requireSameRequest(stored: OrderRequest, asked: OrderRequest): void {
  const compared = asked.reduceOnly ? ASKED.filter((field) => !TAKEN_FROM_POSITION.has(field)) : ASKED
  const differing = compared.filter((field) => stored[field] !== asked[field])
  if (differing.length === 0) return
  throw new ApiError('IDEMPOTENCY_CONFLICT', 'This clientId was used for another order: choose a new one.', {
    clientId: asked.clientId,
    differing,
  })
}
