/**
 * The rule for repeating a refused request. `as_is`: send it again after a pause. `fix_first`: change it or its
 * credentials first. `no`: the answer stays the same until something else changes.
 */
export type RetryRule = 'as_is' | 'fix_first' | 'no'

/** A row of the table of errors. */
interface ErrorEntry {
  readonly status: number
  /** The state or the value that leads to it. */
  readonly when: string
  /** The change after which the request can pass, in one sentence. */
  readonly remedy: string
  readonly retry: RetryRule
}

const row = <const Status extends number>(status: Status, retry: RetryRule, when: string, remedy: string) =>
  Object.freeze({ status, retry, when, remedy })

/** Every error of the service. Codes are stable; messages are for people and must not be matched. */
export const ERRORS = Object.freeze({
  VALIDATION_ERROR: row(
    400,
    'fix_first',
    'The body or the query does not match the schema; `details.issues` lists each path.',
    'Correct each value that the message or `details.issues` names.',
  ),

  UNAUTHENTICATED: row(
    401,
    'fix_first',
    'A private endpoint was called without signature headers or API key.',
    'Send the four headers of a signature, or an API key for a read; a key is never enough for a write.',
  ),
  INVALID_SIGNATURE: row(
    401,
    'fix_first',
    'The signature is not of the address that claims it; `details` has all that it was checked against.',
    'Compare `details` with what you signed: the first value that differs is the cause.',
  ),
  TIMESTAMP_OUT_OF_WINDOW: row(
    401,
    'fix_first',
    'The timestamp is more than 30 s from server time, or not in epoch milliseconds.',
    'Set the clock, or add the difference to `details.serverTime`, and sign anew.',
  ),
  NONCE_REUSED: row(
    401,
    'fix_first',
    'The agent already used this nonce.',
    'Sign again with a nonce that was never used; microseconds that never go back are good nonces.',
  ),
  AGENT_UNKNOWN: row(
    401,
    'fix_first',
    'The agent is not registered on this chain.',
    'Let the trader authorise the agent on this chain: `POST /v1/{chain}/agents` (`createAgent`).',
  ),
  API_KEY_UNKNOWN: row(
    401,
    'fix_first',
    'The API key is not registered on this chain.',
    'Use the newest key of its label on this chain, or let the trader issue one: `POST /v1/{chain}/api-keys` (`issueApiKey`).',
  ),

  AGENT_NOT_DELEGATED: row(
    403,
    'fix_first',
    "The trader's on-chain delegate is not this agent; `details.delegationTx` carries the `setTradingDelegate` transaction.",
    'Let the trader send `details.delegationTx` from its own wallet, once, and try again when it is mined.',
  ),
  AGENT_EXPIRED: row(
    403,
    'fix_first',
    "The expiry of the agent's scope has passed.",
    'Let the trader authorise the agent anew (`createAgent`), with a later `scope.expiresAt`.',
  ),
  AGENT_REVOKED: row(
    403,
    'fix_first',
    'The trader revoked the agent.',
    'Let the trader authorise the agent anew (`createAgent`), if that is meant.',
  ),
  SCOPE_READ_ONLY: row(
    403,
    'fix_first',
    "The agent's scope is read-only.",
    'Use an agent that may trade, or let the trader authorise this one anew (`createAgent`), with `trade` as `scope.permissions`.',
  ),
  SCOPE_MARKET_NOT_ALLOWED: row(
    403,
    'fix_first',
    "The agent's scope does not name this market.",
    'Trade a market of the scope, or let the trader authorise the agent anew (`createAgent`), with this market in `scope.markets`.',
  ),
  SCOPE_LEVERAGE_EXCEEDED: row(
    403,
    'fix_first',
    "The leverage is above the maximum of the agent's scope.",
    'Use less leverage, or let the trader authorise the agent anew (`createAgent`), with a higher `scope.maxLeverage`.',
  ),
  SCOPE_SPEND_CAP_EXCEEDED: row(
    403,
    'fix_first',
    "The notional is above what is left of the agent's daily cap.",
    'Order less, wait for the next day (UTC), or let the trader authorise the agent anew (`createAgent`), with a higher `scope.dailySpendCapUsd`.',
  ),
  TRADER_MISMATCH: row(
    403,
    'fix_first',
    'The address in the path, or the trader that the request names, is not the account the credentials belong to.',
    'Use the trader that these credentials belong to, or the credentials of the trader that is meant.',
  ),

  CHAIN_NOT_FOUND: row(404, 'no', 'This deployment serves no such chain.', 'Use one of `details.chains`.'),
  MARKET_NOT_FOUND: row(
    404,
    'no',
    'There is no such market on this chain; `details.nearest` is the name that was probably meant.',
    'Use `details.nearest` if that is the one, or a market of `listMarkets`.',
  ),
  ORDER_NOT_FOUND: row(
    404,
    'no',
    'The trader has no such order.',
    'Check the id, the chain and the trader: ids are those of `listOpenOrders` and `listOrderHistory`.',
  ),
  POSITION_NOT_FOUND: row(
    404,
    'no',
    'The trader has no such position.',
    'Read the positions again: it may have been closed or liquidated meanwhile.',
  ),
  AGENT_NOT_FOUND: row(
    404,
    'no',
    'There is no such agent on this chain.',
    'Check the address and the chain, or let the trader authorise the agent (`createAgent`).',
  ),
  NOT_FOUND: row(
    404,
    'no',
    'There is no such route, or it does not have this method.',
    'Check method and path against `/openapi.json` or the reference at `/docs`.',
  ),

  IDEMPOTENCY_CONFLICT: row(
    409,
    'fix_first',
    'The `clientId` was already used for a different order.',
    'Choose another `clientId` for another order; `details.differing` names what differs.',
  ),
  ORDER_NOT_MODIFIABLE: row(
    409,
    'no',
    'The order, or the change of a position, is not in a state that accepts this.',
    'Read the order or the position again, and act on its status.',
  ),
  TOO_MANY_PREPARED_ORDERS: row(
    409,
    'no',
    'The agent already has `details.limit` prepared orders that have not expired.',
    'Send or cancel some of the prepared orders, or wait until they expire.',
  ),

  PRECISION_ERROR: row(
    422,
    'fix_first',
    'A number has more decimals than the market allows.',
    'Round the value of `details.field` to `details.maxDecimals` decimals.',
  ),
  LEVERAGE_OUT_OF_RANGE: row(
    422,
    'fix_first',
    'The leverage is outside the range of the market.',
    'Choose a leverage from `details.minLeverage` to `details.maxLeverage`.',
  ),
  SIZE_BELOW_MINIMUM: row(
    422,
    'fix_first',
    'The size is smaller than the contracts accept.',
    'Order more, so that notional and collateral reach the minimums in `details`.',
  ),
  MARKET_CLOSED: row(
    422,
    'no',
    "The market's trading session is closed; `details.opensAt` says until when.",
    'Wait until `details.opensAt`, or trade another market.',
  ),
  COLLATERAL_NOT_SUPPORTED: row(
    422,
    'fix_first',
    'The collateral is not listed or not active on this chain.',
    'Use one of `details.supported`.',
  ),
  SIMULATION_REVERTED: row(
    422,
    'fix_first',
    'The contracts would revert; `details.errorName` is the custom error, with `cause` and `remedy`, `details.calldata` the inner call. Nothing was prepared.',
    'Do what the message says; where allowance is missing, let the trader send `details.approvalTx`.',
  ),
  SUBMISSION_MISMATCH: row(
    422,
    'fix_first',
    "The reported hash is another order's, somebody else's, or was mined without creating this order; it changes nothing.",
    'Report the hash of the transaction that was prepared for this order; the order is as it was.',
  ),
  UNSUPPORTED: row(
    422,
    'no',
    'The feature is not available on this deployment or in v1, or the contracts would take the value and never honour it.',
    'Change the value that the message or `details.field` names, or leave the feature out.',
  ),

  RATE_LIMITED: row(
    429,
    'as_is',
    'A limit is used up; retry after the seconds in `Retry-After`. `details.scope` names it.',
    'Wait for the seconds in `Retry-After`, and spread the requests.',
  ),

  INTERNAL: row(
    500,
    'no',
    'A bug; report it with the `x-request-id` response header and the time of the call.',
    'Report it to the operator; read the account before a write is repeated.',
  ),
  UPSTREAM_UNAVAILABLE: row(
    502,
    'as_is',
    'A backend behind the service did not answer.',
    'Send it again after a pause.',
  ),
  NOT_READY: row(
    503,
    'as_is',
    'The service is starting, a data feed is stale, the contracts have changed, or the operator has paused this.',
    'Send it again after `Retry-After`; `details.reason` says what is waited for.',
  ),
  CHAIN_READ_ONLY: row(
    503,
    'no',
    'The facade has no relayer on this chain; native reads and writes are unaffected.',
    'Use the native operations, or a deployment with a relayer.',
  ),
}) satisfies Readonly<Record<string, ErrorEntry>>

/** Stable code of an error of the service. */
export type ErrorCode = keyof typeof ERRORS

/** The JSON body of an error answer. */
export interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly details: ErrorTrace & Readonly<Record<string, unknown>>
}

/** The part of `details` that every error has. */
export interface ErrorTrace {
  /** The change after which the request can pass, in the words of the REST interface. */
  readonly remedy: string
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

  /** `message` says what happened. What to do is the remedy of the code, or `details.remedy` where that says more. */
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
    return { code, message, details: { remedy: ERRORS[code].remedy, ...details, requestId, docs: docsOf(code) } }
  }
}
