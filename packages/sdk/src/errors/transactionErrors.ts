import { BezelError } from './bezelError.ts'

/**
 * The error for a prepared transaction that does something else than was asked, or can't be proven not to. It was not
 * signed.
 */
export class UnverifiedTransactionError extends BezelError {
  override readonly name = 'UnverifiedTransactionError'
  /** The part that differs: `to`, `collateralAmount`, `calls[1]`, ... */
  readonly field: string
  readonly expected: string
  readonly found: string

  constructor(field: string, expected: string, found: string) {
    const message = `The prepared transaction was not sent: its ${field} is ${found}, and what was asked for needs ${expected}. Prepare it again; if it stays so, do not sign what this service prepares.`
    super('UNVERIFIED_TRANSACTION', message)
    this.field = field
    this.expected = expected
    this.found = found
  }
}

/** The error for a prepared transaction that is too old. It was not sent. */
export class PreparationExpiredError extends BezelError {
  override readonly name = 'PreparationExpiredError'
  /** Expiry of the transaction in epoch milliseconds. */
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

/**
 * The error of a sender that failed. Usually nothing was sent, but a node that did not answer may have taken the
 * transaction.
 */
export class BroadcastError extends BezelError {
  override readonly name = 'BroadcastError'

  constructor(cause: unknown) {
    const said = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    const message = `The transaction could not be sent: ${said} Look at the order before you send it again: a node that did not answer may have taken it.`
    super('BROADCAST_FAILED', message, { cause })
  }
}

/** The error for a delegation that was sent but that the service has not seen on the chain yet. */
export class DelegationTimeoutError extends BezelError {
  override readonly name = 'DelegationTimeoutError'
  readonly txHash: `0x${string}`

  constructor(agent: string, txHash: `0x${string}`, timeoutMs: number) {
    const message = `Transaction ${txHash} was sent, but after ${timeoutMs / 1000} s ${agent} is not the delegate yet. Look whether it was mined (agents.get tells the status); do not send it again before.`
    super('DELEGATION_TIMEOUT', message)
    this.txHash = txHash
  }
}

/** The error for an approval that was sent but that the chain does not show yet. */
export class ApprovalTimeoutError extends BezelError {
  override readonly name = 'ApprovalTimeoutError'
  readonly txHash: `0x${string}`

  constructor(collateral: string, txHash: `0x${string}`, timeoutMs: number) {
    const message = `Transaction ${txHash} was sent, but after ${timeoutMs / 1000} s the allowance of ${collateral} is not what it sets. Look whether it was mined (account.get tells the allowance); do not send it again before.`
    super('APPROVAL_TIMEOUT', message)
    this.txHash = txHash
  }
}
