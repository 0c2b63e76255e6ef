import { ORDER_REASON_TEXTS, type Order, type OrderReason } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

const STATUSES: Readonly<Partial<Record<Order['status'], string>>> = {
  canceled: 'It was cancelled.',
  expired:
    'Its transaction was not mined in time, or it was withdrawn. It comes back if that transaction is mined after all.',
  timed_out: 'The oracle did not answer in time. Cancel it to get the collateral back (orders.cancel).',
}

/** The error for an order that ended without being filled. `order.status` and `order.reason` say why. */
export class OrderNotFilledError extends BezelError {
  override readonly name = 'OrderNotFilledError'
  declare readonly code: 'ORDER_NOT_FILLED'
  /** The order as it ended. */
  readonly order: Order

  constructor(order: Order) {
    const reason = order.reason === null ? '' : ` The contracts say ${order.reason}: ${wordsOf(order.reason)}.`
    super(
      'ORDER_NOT_FILLED',
      `Order ${order.id} is ${order.status}.${reason || ` ${STATUSES[order.status] ?? ''}`}`.trim(),
    )
    this.order = order
  }
}

/** The error for a change or a cancellation of an order that came too late: the order ended in another way before. */
export class OrderNotChangedError extends BezelError {
  override readonly name = 'OrderNotChangedError'
  declare readonly code: 'ORDER_NOT_CHANGED'
  /** The order as it ended. */
  readonly order: Order

  constructor(order: Order) {
    const position = order.fill?.positionId ?? null
    const advice = position === null ? '' : ` Its position is ${position}.`
    super('ORDER_NOT_CHANGED', `It came too late: order ${order.id} is ${order.status}.${advice}`)
    this.order = order
  }
}

/** The error for a wait that ended before the order did. The order goes on by itself. */
export class FillTimeoutError extends BezelError {
  override readonly name = 'FillTimeoutError'
  declare readonly code: 'FILL_TIMEOUT'
  /** Id of the order, which goes on. */
  readonly orderId: string
  /** The order as it was last read; `undefined` when it could not be read. */
  readonly order: Order | undefined

  constructor(orderId: string, order: Order | undefined, timeoutMs: number, cause?: unknown) {
    const seen = order === undefined ? 'could not be read' : `is ${order.status}`
    const message = `After ${timeoutMs / 1000} s order ${orderId} ${seen}. It goes on without you: wait again (orders.track) or look at it later; do not send it again.`
    super('FILL_TIMEOUT', message, { cause })
    this.orderId = orderId
    this.order = order
  }
}

/**
 * The error for a transaction that was sent but could not be reported. The service watches the chain and finds it by
 * itself.
 */
export class OrderSubmitReportError extends BezelError {
  override readonly name = 'OrderSubmitReportError'
  declare readonly code: 'SUBMIT_REPORT_FAILED'
  /** Id of the order. */
  readonly orderId: string
  /** Hash of the transaction, which was sent. */
  readonly txHash: `0x${string}`

  constructor(orderId: string, txHash: `0x${string}`, cause: unknown) {
    const message = `Transaction ${txHash} of order ${orderId} was sent, but reporting it failed. Do not send it again: follow the order (orders.track), or report the hash later (orders.submit).`
    super('SUBMIT_REPORT_FAILED', message, { cause })
    this.orderId = orderId
    this.txHash = txHash
  }
}

function wordsOf(reason: OrderReason): string {
  const { cause, remedy } = ORDER_REASON_TEXTS[reason]
  return `${cause}; ${remedy}`
}
