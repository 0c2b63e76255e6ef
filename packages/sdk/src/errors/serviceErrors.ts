import { ERRORS, type ErrorCode, type ErrorDetails, type ErrorTrace } from '@bezel/protocol/wire'
import { BezelError, type NetworkFailure } from './bezelError.ts'

/** A refusal as the service answered it. */
export interface ApiRefusal {
  /** Code of the error, as it came. */
  readonly code: string
  /** The error in words. */
  readonly message: string
  /** `details` of the answer. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** HTTP status of the answer. */
  readonly status: number
  /** `x-request-id` of the answer. */
  readonly requestId?: string | undefined
  /** Address of the paragraph about the error. */
  readonly docs?: string | undefined
}

/** Returns the address of the paragraph about a refusal, whose `details` have its path at the service. */
export function docsAddress(baseUrl: string, details: ApiRefusal['details']): string | undefined {
  const path = details?.['docs']
  return typeof path === 'string' && path.startsWith('/') ? baseUrl + path : undefined
}

/** The base class of refusals of the service. Catch `BezelApiError`, whose `details` are typed by `code`. */
export class RefusalError extends BezelError {
  override readonly name: string = 'BezelApiError'
  /** Stable code of the service. */
  override readonly code: ErrorCode
  /** HTTP status of the answer. */
  readonly status: number
  /** The numbers and names that the message quotes, by `code`. */
  readonly details: ErrorTrace
  /** Id of the request, which finds the call in the log of the service. */
  readonly requestId: string | undefined
  /** Address of the paragraph about the refusal in the documentation that the service serves. */
  readonly docs: string | undefined

  constructor(refusal: ApiRefusal, message = `${refusal.message} ${adviceFor(refusal)}`.trimEnd()) {
    const code = refusal.code as ErrorCode
    super(code, message, { retryable: isRetryable(code) })
    this.code = code
    this.status = refusal.status
    this.details = (refusal.details ?? {}) as ErrorTrace & typeof refusal.details
    this.requestId = refusal.requestId
    this.docs = refusal.docs
  }
}

/** A refusal of one code. */
export interface RefusalOf<Code extends ErrorCode> extends RefusalError {
  /** Stable code of the service. */
  readonly code: Code
  /** The numbers and names that the message quotes. */
  readonly details: ErrorDetails<Code>
}

/**
 * The error for a refusal of the service. After a check of `code`, `details` has the fields of that code. A service
 * that is newer than this package may use further codes.
 */
export type BezelApiError = { [Code in ErrorCode]: RefusalOf<Code> }[ErrorCode]

/** The class of `BezelApiError`, for `instanceof`. */
export const BezelApiError = RefusalError as new (refusal: ApiRefusal, message?: string) => BezelApiError

/**
 * The error for a timestamp too far from the service's clock. `skewMs` is this clock minus the service's: positive
 * means ahead.
 */
export class ClockSkewError extends RefusalError {
  override readonly name = 'ClockSkewError'
  override readonly code = 'TIMESTAMP_OUT_OF_WINDOW'
  declare readonly details: ErrorDetails<'TIMESTAMP_OUT_OF_WINDOW'>
  /** Difference of the clocks in milliseconds; `undefined` when the service did not tell its time. */
  readonly skewMs: number | undefined

  constructor(refusal: ApiRefusal, skewMs: number | undefined) {
    super(refusal, sentence(skewMs))
    this.skewMs = skewMs
  }
}

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
  AGENT_NOT_FOUND: 'Authorise the agent first (agents.authorize), on this chain.',
  AGENT_NOT_DELEGATED: 'The trader must send details.delegationTx (agents.delegate).',
  AGENT_EXPIRED: 'Authorise the agent again with a later expiry (agents.authorize).',
  AGENT_REVOKED: 'Authorise the agent again (agents.authorize).',
  SCOPE_READ_ONLY: 'Use an agent that may trade, or authorise this one anew with the permission to (agents.authorize).',
  SCOPE_MARKET_NOT_ALLOWED: 'Trade a market of its scope, or authorise it anew with this one (agents.authorize).',
  SCOPE_LEVERAGE_EXCEEDED: 'Use less leverage, or authorise it anew with a higher maxLeverage (agents.authorize).',
  SCOPE_SPEND_CAP_EXCEEDED:
    'Order less, wait for the next day (UTC), or authorise it anew with a higher dailySpendCapUsd (agents.authorize).',
  TRADER_MISMATCH: 'Use the trader that these credentials belong to, or credentials of the trader that is meant.',
  IDEMPOTENCY_CONFLICT: 'Choose another clientId for another order.',
  ORDER_NOT_MODIFIABLE: 'Read it again before you try to change it.',
  TOO_MANY_PREPARED_ORDERS: 'Send or cancel some of the prepared orders, or wait until they expire.',
  SIMULATION_REVERTED: 'Nothing was prepared.',
  SUBMISSION_MISMATCH: 'Report the transaction that was prepared for it.',
  RATE_LIMITED: 'Wait until the window ends (Retry-After).',
  INTERNAL: 'Report it to the operator with the request id and the time.',
}

const RULES = {
  as_is: 'Try again after a pause.',
  fix_first: 'Change the request before you send it again.',
  no: 'Sending it again gets the same answer until something else changes.',
} as const

/**
 * Returns a sentence that says what to do about a refusal: in the words of this package where it has a method for it,
 * else as the service says it. Empty when the message says it already.
 */
function adviceFor({ code, message, details }: ApiRefusal): string {
  const said = details?.['remedy']
  const remedy = typeof said === 'string' ? said : undefined
  if (!Object.hasOwn(ERRORS, code)) return remedy ?? 'This code is unknown to this version of the client.'
  const known = code as ErrorCode
  const { remedy: usual, retry } = ERRORS[known]
  // A remedy that is not the usual one of its code says more than that.
  const isOwn = remedy !== undefined && remedy !== usual
  const advice = isOwn ? remedy : (ADVICE[known] ?? remedy ?? RULES[retry])
  return message.includes(advice) ? '' : advice
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
