import type { Order, OrderReason } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

const REASONS: Readonly<Record<OrderReason, string>> = {
  NONE: 'no reason was given',
  PAUSED: 'trading was paused',
  MARKET_CLOSED: 'the market was closed',
  SLIPPAGE: 'the price moved further than the slippage allows: order again with the current price or more slippage',
  TP_REACHED: 'its take profit was reached already: set another one',
  SL_REACHED: 'its stop loss was reached already: set another one',
  EXPOSURE_LIMITS: 'the open interest of the market is at its limit: order less, or later',
  PRICE_IMPACT: 'its impact on the price was too large: order less',
  MAX_LEVERAGE: 'the leverage was above the maximum: order with less',
  NO_TRADE: 'the position was gone',
  WRONG_TRADE: 'it did not fit the position',
  NOT_HIT: 'the price did not reach the trigger',
  LIQ_REACHED: 'the liquidation price was reached',
  OTHER: 'its transaction reverted, or the contracts gave a reason of their own',
}

const STATUSES: Readonly<Partial<Record<Order['status'], string>>> = {
  canceled: 'It was cancelled.',
  expired:
    'Its transaction was not mined in time, or it was withdrawn. It comes back if that transaction is mined after all.',
  timed_out: 'The oracle did not answer in time. Cancel it to get the collateral back (orders.cancel).',
}

/** The error for an order that ended without being filled. `order.status` and `order.reason` say why. */
export class OrderNotFilledError extends BezelError {
  override readonly name = 'OrderNotFilledError'
  readonly order: Order

  constructor(order: Order) {
    const reason = order.reason === null ? '' : ` The contracts say ${order.reason}: ${REASONS[order.reason]}.`
    super(
      'ORDER_NOT_FILLED',
      `Order ${order.id} is ${order.status}.${reason || ` ${STATUSES[order.status] ?? ''}`}`.trim(),
    )
    this.order = order
  }
}

/** The error for a wait that ended before the order did. The order goes on by itself. */
export class FillTimeoutError extends BezelError {
  override readonly name = 'FillTimeoutError'
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
  readonly orderId: string
  readonly txHash: `0x${string}`

  constructor(orderId: string, txHash: `0x${string}`, cause: unknown) {
    const message = `Transaction ${txHash} of order ${orderId} was sent, but reporting it failed. Do not send it again: follow the order (orders.track), or report the hash later (orders.submit).`
    super('SUBMIT_REPORT_FAILED', message, { cause })
    this.orderId = orderId
    this.txHash = txHash
  }
}
