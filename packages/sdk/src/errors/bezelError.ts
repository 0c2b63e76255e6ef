/**
 * The base class of all errors of this package. Act on `code` or on the class; messages are for people and say what to
 * do.
 */
export class BezelError extends Error {
  override readonly name: string = 'BezelError'
  /** Stable code of the error. */
  readonly code: string
  /** True when the same call may be made again unchanged, after a pause. */
  readonly retryable: boolean

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryable = options.retryable ?? false
  }
}

/** The codes of `BezelConfigError`. */
export type ConfigFault =
  | 'BAD_BASE_URL'
  | 'UNKNOWN_CHAIN'
  | 'NO_AGENT'
  | 'NO_CREDENTIALS'
  | 'NO_SENDER'
  | 'NO_TRADER'
  | 'WRONG_SENDER'
  | 'SIGNING_NAME_MISMATCH'
  | 'SENDER_CANNOT_READ'
  | 'UNKNOWN_COLLATERAL'
  | 'BAD_AMOUNT'

/** The error for a client that lacks what a call needs, or whose options contradict each other. Nothing was sent. */
export class BezelConfigError extends BezelError {
  override readonly name = 'BezelConfigError'
  override readonly code: ConfigFault

  constructor(code: ConfigFault, message: string) {
    super(code, message)
    this.code = code
  }
}

/** The error for two sides on different chains. Nothing was signed or sent. */
export class WrongChainError extends BezelError {
  override readonly name = 'WrongChainError'
  readonly expected: number
  readonly found: number

  constructor(of: { readonly who: string; readonly expected: number; readonly found: number }) {
    const message = `${of.who} is on chain ${of.found}, but chain ${of.expected} is meant. Connect it to chain ${of.expected}, or make a client of the other chain.`
    super('WRONG_CHAIN', message)
    this.expected = of.expected
    this.found = of.found
  }
}

/** The error for a service that uses another Diamond than the pinned one. Nothing was signed or sent. */
export class WrongDiamondError extends BezelError {
  override readonly name = 'WrongDiamondError'
  readonly expected: string
  readonly found: string

  constructor(expected: string, found: string) {
    const message = `The service uses the Diamond ${found}, but ${expected} is pinned. Do not trade through it before you know why: check the base URL and the pinned address.`
    super('WRONG_DIAMOND', message)
    this.expected = expected
    this.found = found
  }
}
