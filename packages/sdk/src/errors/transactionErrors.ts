import type { Order } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

/**
 * The error for a prepared transaction that does something else than was asked, or can't be proven not to. It was not
 * signed.
 */
export class UnverifiedTransactionError extends BezelError {
  override readonly name = 'UnverifiedTransactionError'
  declare readonly code: 'UNVERIFIED_TRANSACTION'
  /** The part that differs: `to`, `collateralAmount`, `calls[1]`, ... */
  readonly field: string
  /** The value that was asked for. */
  readonly expected: string
  /** The value in the transaction. */
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
  declare readonly code: 'PREPARATION_EXPIRED'
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

/** The error for a transaction that was mined and reverted, so that nothing of it was done. */
export class TransactionRevertedError extends BezelError {
  override readonly name = 'TransactionRevertedError'
  declare readonly code: 'TRANSACTION_REVERTED'
  /** Hash of the transaction. */
  readonly txHash: `0x${string}`
  /** The order that it would have changed or cancelled, as it was last read; `undefined` for anything else. */
  readonly order: Order | undefined

  constructor(txHash: `0x${string}`, order?: Order) {
    const now =
      order === undefined ? '' : ` Order ${order.id} is ${order.status}: read it again, and repeat what you still want.`
    super('TRANSACTION_REVERTED', `Transaction ${txHash} was mined and reverted, so nothing of it was done.${now}`)
    this.txHash = txHash
    this.order = order
  }
}

/** The error for a transaction that was sent but is not mined yet. */
export class TransactionTimeoutError extends BezelError {
  override readonly name = 'TransactionTimeoutError'
  declare readonly code: 'TRANSACTION_TIMEOUT'
  /** Hash of the transaction, which was sent. */
  readonly txHash: `0x${string}`

  constructor(txHash: `0x${string}`, timeoutMs: number, cause?: unknown) {
    const message = `Transaction ${txHash} was sent, but was not mined within ${timeoutMs / 1000} s. It may still be: look whether it was before you send it again.`
    super('TRANSACTION_TIMEOUT', message, { cause })
    this.txHash = txHash
  }
}

/** The error for a delegation that was sent but that the service has not seen on the chain yet. */
export class DelegationTimeoutError extends BezelError {
  override readonly name = 'DelegationTimeoutError'
  declare readonly code: 'DELEGATION_TIMEOUT'
  /** Hash of the transaction, which was sent. */
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
  declare readonly code: 'APPROVAL_TIMEOUT'
  /** Hash of the transaction, which was sent. */
  readonly txHash: `0x${string}`

  constructor(collateral: string, txHash: `0x${string}`, timeoutMs: number) {
    const message = `Transaction ${txHash} was sent, but after ${timeoutMs / 1000} s the allowance of ${collateral} is not what it sets. Look whether it was mined (account.get tells the allowance); do not send it again before.`
    super('APPROVAL_TIMEOUT', message)
    this.txHash = txHash
  }
}
