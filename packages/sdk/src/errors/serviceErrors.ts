import { ERRORS, type ErrorCode } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

/** A refusal as the service answered it. */
export interface ApiRefusal {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly status: number
  readonly requestId?: string | undefined
  readonly docs?: string | undefined
}

/** Returns the address of the paragraph about a refusal, whose `details` have its path at the service. */
export function docsAddress(baseUrl: string, details: ApiRefusal['details']): string | undefined {
  const path = details?.['docs']
  return typeof path === 'string' && path.startsWith('/') ? baseUrl + path : undefined
}

/**
 * The error for a refusal of the service. `code` and `details` are the service's own; `requestId` finds the call in its
 * log.
 */
export class BezelApiError extends BezelError {
  override readonly name: string = 'BezelApiError'
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined
  /** Address of the paragraph about the refusal in the documentation that the service serves. */
  readonly docs: string | undefined

  constructor(refusal: ApiRefusal, message = `${refusal.message} ${adviceFor(refusal.code)}`) {
    super(refusal.code, message, { retryable: isRetryable(refusal.code) })
    this.status = refusal.status
    this.details = refusal.details ?? {}
    this.requestId = refusal.requestId
    this.docs = refusal.docs
  }
}

/**
 * The error for a timestamp too far from the service's clock. `skewMs` is this clock minus the service's: positive
 * means ahead.
 */
export class ClockSkewError extends BezelApiError {
  override readonly name = 'ClockSkewError'
  /** Difference of the clocks in milliseconds; `undefined` when the service did not tell its time. */
  readonly skewMs: number | undefined

  constructor(refusal: ApiRefusal, skewMs: number | undefined) {
    super(refusal, sentence(skewMs))
    this.skewMs = skewMs
  }
}

/** The codes of `BezelNetworkError`. */
export type NetworkFailure = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_RESPONSE'

const NETWORK_ADVICE: Readonly<Record<NetworkFailure, string>> = {
  NETWORK_ERROR: 'Check the base URL and the connection.',
  TIMEOUT: 'Check the connection, or allow more time (timeoutMs).',
  UNEXPECTED_RESPONSE: 'Check that the base URL is that of a Bezel service.',
}

/** The error for a call without a usable answer. The outcome of the call is not known. */
export class BezelNetworkError extends BezelError {
  override readonly name = 'BezelNetworkError'
  override readonly code: NetworkFailure
  /** HTTP status of an answer that was no answer of the interface. */
  readonly status: number | undefined

  constructor(
    code: NetworkFailure,
    of: {
      readonly method: string
      readonly url: string
      readonly what: string
      readonly status?: number
      readonly cause?: unknown
    },
  ) {
    const isRead = of.method === 'GET'
    const unknown = isRead ? '' : ' Whether it was carried out is not known: read the account before you repeat it.'
    super(code, `${of.method} ${of.url}: ${of.what}. ${NETWORK_ADVICE[code]}${unknown}`, {
      retryable: isRead,
      cause: of.cause,
    })
    this.code = code
    this.status = of.status
  }
}

const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_SIGNATURE:
    'Check that the key is the one you mean and that name, chain and Diamond are those of details.domain.',
  NONCE_REUSED: 'Sign again with a new nonce.',
  AGENT_UNKNOWN: 'Authorise the agent first (agents.authorize), on this chain.',
  API_KEY_UNKNOWN: 'Issue a key for this chain (agents.issueApiKey); a key is replaced when its label is issued again.',
  AGENT_NOT_DELEGATED: 'The trader must send details.delegationTx (agents.delegate).',
  AGENT_EXPIRED: 'Authorise the agent again with a later expiry (agents.authorize).',
  AGENT_REVOKED: 'Authorise the agent again (agents.authorize).',
  TRADER_MISMATCH: 'Use the trader that these credentials belong to, or credentials of the trader that is meant.',
  IDEMPOTENCY_CONFLICT: 'Choose another clientId for another order.',
  ORDER_NOT_MODIFIABLE: 'Look at the order again before you try to change it.',
  TOO_MANY_PREPARED_ORDERS: 'Send or cancel some of the prepared orders, or wait until they expire.',
  SIMULATION_REVERTED: 'Nothing was prepared.',
  SUBMISSION_MISMATCH: 'The order is as it was. Report the transaction that was prepared for it.',
  RATE_LIMITED: 'Wait until the window ends (Retry-After).',
  INTERNAL: 'Report it to the operator with the request id and the time.',
}

const RULES = {
  as_is: 'Try again after a pause.',
  fix_first: 'Change the request before you send it again.',
  no: 'Sending it again gets the same answer until something else changes.',
} as const

/** Returns a sentence that says what to do about a refusal. */
function adviceFor(code: string): string {
  if (!Object.hasOwn(ERRORS, code)) return 'This code is unknown to this version of the client.'
  const known = code as ErrorCode
  return ADVICE[known] ?? RULES[ERRORS[known].retry]
}

/** Returns true for codes which say that nothing was done and that the same call may be made again. */
function isRetryable(code: string): boolean {
  return Object.hasOwn(ERRORS, code) && ERRORS[code as ErrorCode].retry === 'as_is'
}

function sentence(skewMs: number | undefined): string {
  const rule = 'Requests are accepted within 30 s of the service. Set the clock of this machine (NTP) and try again.'
  if (skewMs === undefined) return `This clock is more than 30 s from the service's. ${rule}`
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1)
  return `This clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's. ${rule}`
}
