import { BezelError } from './bezelError.ts'

/** The transaction was sent, but the service could not be told. It watches the chain and finds it by itself. */
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
