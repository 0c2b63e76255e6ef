import { BezelError } from './bezelError.ts'

/** A prepared transaction does something else than what was asked, or it can't be proven that it does not. It was not signed. */
export class UnverifiedTransactionError extends BezelError {
  override readonly name = 'UnverifiedTransactionError'
  /** What differs: `to`, `collateralAmount`, `calls[1]`, ... */
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
