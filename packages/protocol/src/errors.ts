/**
 * The rule for repeating a refused request. `as_is`: send it again after a pause. `fix_first`: change it or its
 * credentials first. `no`: the answer stays the same until something else changes.
 */
export type RetryRule = 'as_is' | 'fix_first' | 'no'

/** A row of the table of errors. */
interface ErrorEntry {
  readonly status: number
  readonly when: string
  readonly retry: RetryRule
}

const row = <const Status extends number>(status: Status, retry: RetryRule, when: string) =>
  Object.freeze({ status, retry, when })

/** Every error of the service. Codes are stable; messages are for people and must not be matched. */
export const ERRORS = Object.freeze({
  VALIDATION_ERROR: row(
    400,
    'fix_first',
    'The body or the query does not match the schema; `details.issues` lists each path.',
  ),

  UNAUTHENTICATED: row(401, 'fix_first', 'A private endpoint was called without signature headers or API key.'),
  INVALID_SIGNATURE: row(
    401,
    'fix_first',
    'The signature is not of the address that claims it; `details` has all that it was checked against.',
  ),
  TIMESTAMP_OUT_OF_WINDOW: row(
    401,
    'fix_first',
    'The timestamp is more than 30 s from server time, or not in epoch milliseconds.',
  ),
  NONCE_REUSED: row(401, 'fix_first', 'The agent already used this nonce.'),
  AGENT_UNKNOWN: row(401, 'fix_first', 'The agent is not registered on this chain.'),
  API_KEY_UNKNOWN: row(401, 'fix_first', 'The API key is not registered on this chain.'),

  AGENT_NOT_DELEGATED: row(
    403,
    'fix_first',
    "The trader's on-chain delegate is not this agent; `details.delegationTx` carries the `setTradingDelegate` transaction.",
  ),
  AGENT_EXPIRED: row(403, 'fix_first', "The expiry of the agent's scope has passed."),
  AGENT_REVOKED: row(403, 'fix_first', 'The trader revoked the agent.'),
  SCOPE_READ_ONLY: row(403, 'fix_first', "The agent's scope is read-only."),
  SCOPE_MARKET_NOT_ALLOWED: row(403, 'fix_first', "The agent's scope does not name this market."),
  SCOPE_LEVERAGE_EXCEEDED: row(403, 'fix_first', "The leverage is above the maximum of the agent's scope."),
  SCOPE_SPEND_CAP_EXCEEDED: row(403, 'fix_first', "The notional is above what is left of the agent's daily cap."),
  TRADER_MISMATCH: row(
    403,
    'fix_first',
    'The address in the path, or the trader that the request names, is not the account the credentials belong to.',
  ),

  CHAIN_NOT_FOUND: row(404, 'no', 'This deployment serves no such chain.'),
  MARKET_NOT_FOUND: row(
    404,
    'no',
    'There is no such market on this chain; `details.nearest` is the name that was probably meant.',
  ),
  ORDER_NOT_FOUND: row(404, 'no', 'The trader has no such order.'),
  POSITION_NOT_FOUND: row(404, 'no', 'The trader has no such position.'),
  AGENT_NOT_FOUND: row(404, 'no', 'There is no such agent on this chain.'),
  NOT_FOUND: row(404, 'no', 'There is no such route, or it does not have this method.'),

  IDEMPOTENCY_CONFLICT: row(409, 'fix_first', 'The `clientId` was already used for a different order.'),
  ORDER_NOT_MODIFIABLE: row(409, 'no', 'The order, or the change of a position, is not in a state that accepts this.'),
  TOO_MANY_PREPARED_ORDERS: row(
    409,
    'no',
    'The agent already has `details.limit` prepared orders that have not expired.',
  ),

  PRECISION_ERROR: row(422, 'fix_first', 'A number has more decimals than the market allows.'),
  LEVERAGE_OUT_OF_RANGE: row(422, 'fix_first', 'The leverage is outside the range of the market.'),
  SIZE_BELOW_MINIMUM: row(422, 'fix_first', 'The size is smaller than the contracts accept.'),
  MARKET_CLOSED: row(422, 'no', "The market's trading session is closed; `details.opensAt` says until when."),
  COLLATERAL_NOT_SUPPORTED: row(422, 'fix_first', 'The collateral is not listed or not active on this chain.'),
  SIMULATION_REVERTED: row(
    422,
    'fix_first',
    'The contracts would revert; `details.errorName` is the custom error, with `cause` and `remedy`, `details.calldata` the inner call. Nothing was prepared.',
  ),
  SUBMISSION_MISMATCH: row(
    422,
    'fix_first',
    "The reported hash is another order's, somebody else's, or was mined without creating this order; it changes nothing.",
  ),
  UNSUPPORTED: row(
    422,
    'no',
    'The feature is not available on this deployment or in v1, or the contracts would take the value and never honour it.',
  ),

  RATE_LIMITED: row(
    429,
    'as_is',
    'A limit is used up; retry after the seconds in `Retry-After`. `details.scope` names it.',
  ),

  INTERNAL: row(500, 'no', 'A bug; report it with the `x-request-id` response header and the time of the call.'),
  UPSTREAM_UNAVAILABLE: row(502, 'as_is', 'A backend behind the service did not answer.'),
  NOT_READY: row(503, 'as_is', 'The service is starting, a data feed is stale, or the operator has paused this.'),
  CHAIN_READ_ONLY: row(503, 'no', 'The facade has no relayer on this chain; native reads and writes are unaffected.'),
}) satisfies Readonly<Record<string, ErrorEntry>>

export type ErrorCode = keyof typeof ERRORS

/** The JSON body of an error answer. */
export interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly details: ErrorTrace & Readonly<Record<string, unknown>>
}

/** The part of `details` that every error has. */
export interface ErrorTrace {
  /** Id of the request, as in the header `x-request-id`: it finds the request in the service's log. */
  readonly requestId: string
  /** Path of the paragraph about the error in the documentation that the service serves. */
  readonly docs: string
}

/** Returns the path of the paragraph about an error in the documentation that the service serves. */
export function docsOf(code: ErrorCode): string {
  return `/docs/errors#${code.toLowerCase()}`
}

/** A refusal that reaches the client unchanged. It is thrown anywhere and turned into an answer in one place. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message)
    this.code = code
    this.details = details
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  toBody(requestId: string): ErrorBody {
    const { code, message, details } = this
    return { code, message, details: { ...details, requestId, docs: docsOf(code) } }
  }
}
