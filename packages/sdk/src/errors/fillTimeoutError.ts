import type { Order } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

/** The wait ended before the order did. The order goes on by itself. */
export class FillTimeoutError extends BezelError {
  override readonly name = 'FillTimeoutError'
  readonly orderId: string
  /** As last seen. */
  readonly order: Order | undefined

  constructor(orderId: string, order: Order | undefined, timeoutMs: number, cause?: unknown) {
    const seen = order === undefined ? 'could not be read' : `is ${order.status}`
    const message = `After ${timeoutMs / 1000} s order ${orderId} ${seen}. It goes on without you: wait again (orders.track) or look at it later; do not send it again.`
    super('FILL_TIMEOUT', message, { cause })
    this.orderId = orderId
    this.order = order
  }
}
