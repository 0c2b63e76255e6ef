import type { ErrorCode } from '@bezel/protocol/wire'

/**
 * The base class of all errors of this package. Act on `code` or on the class; messages are for people and say what to
 * do.
 */
export class BezelError extends Error {
  /** Name of the class. */
  override readonly name: string = 'BezelError'
  /** Stable code of the error. */
  readonly code: BezelErrorCode
  /** True when the same call may be made again unchanged, after a pause. */
  readonly retryable: boolean

  constructor(code: BezelErrorCode, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryable = options.retryable ?? false
  }
}

/** The codes of `BezelConfigError`. */
export type ConfigFault =
  | 'BAD_BASE_URL'
  | 'BAD_RPC_URL'
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
  | 'NO_WEBSOCKET'

/** The codes of `BezelNetworkError`. */
export type NetworkFailure = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_RESPONSE'

/** The codes of all errors of this package: those of the service, and its own. */
export type BezelErrorCode =
  | ErrorCode
  | ConfigFault
  | NetworkFailure
  | 'WRONG_CHAIN'
  | 'WRONG_DIAMOND'
  | 'UNVERIFIED_TRANSACTION'
  | 'PREPARATION_EXPIRED'
  | 'NODE_FAILED'
  | 'BROADCAST_FAILED'
  | 'SUBMIT_REPORT_FAILED'
  | 'TRANSACTION_REVERTED'
  | 'TRANSACTION_TIMEOUT'
  | 'DELEGATION_TIMEOUT'
  | 'APPROVAL_TIMEOUT'
  | 'ORDER_NOT_FILLED'
  | 'ORDER_NOT_CHANGED'
  | 'FILL_TIMEOUT'
  | 'POSITION_UPDATE_REFUSED'
  | 'POSITION_UPDATE_TIMED_OUT'
  | 'POSITION_UPDATE_WAIT'
  | 'BATCH_INTERRUPTED'
  | 'BATCH_NOT_DONE'

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
  declare readonly code: 'WRONG_CHAIN'
  /** Id of the chain that is meant. */
  readonly expected: number
  /** Id of the chain that was found. */
  readonly found: number

  constructor(of: { readonly who: string; readonly expected: number; readonly found: number }) {
    const message = `${of.who} is on chain ${of.found}, but chain ${of.expected} is meant. Connect it to chain ${of.expected}, or make a client of the other chain.`
    super('WRONG_CHAIN', message)
    this.expected = of.expected
    this.found = of.found
  }
}

/** The error for a service that uses another Diamond than the one that is meant. Nothing was signed or sent. */
export class WrongDiamondError extends BezelError {
  override readonly name = 'WrongDiamondError'
  declare readonly code: 'WRONG_DIAMOND'
  /** Address that is meant: the one of the client's options, else that of the live chain. */
  readonly expected: string
  /** Address that the service named. */
  readonly found: string

  /** `liveOf` is the chain whose live Diamond is expected, where the client names none. */
  constructor(expected: string, found: string, liveOf?: string) {
    const message =
      liveOf === undefined
        ? `The service uses the Diamond ${found}, but ${expected} is the one that you named. Do not trade through it before you know why: check the base URL and the address.`
        : `The service uses the Diamond ${found}. The client names none, so the live one of ${liveOf} is expected, which is ${expected}. For a local chain, give the client { diamond }: var/devnet.json has it as chains["${liveOf}"].diamond. For any other, do not trade through this service before you know why.`
    super('WRONG_DIAMOND', message)
    this.expected = expected
    this.found = found
  }
}
