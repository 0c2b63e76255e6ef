import { BezelError } from './bezelError.ts'

/** The prepared transaction is too old. It was not sent. */
export class PreparationExpiredError extends BezelError {
  override readonly name = 'PreparationExpiredError'
  /** Epoch milliseconds. */
  readonly expiresAt: number

  constructor(expiresAt: number, nowMs: number) {
    const seconds = ((nowMs - expiresAt) / 1000).toFixed(1)
    super(
      'PREPARATION_EXPIRED',
      `The prepared transaction expired ${seconds} s ago and was not sent. Prepare it again.`,
    )
    this.expiresAt = expiresAt
  }
}
