/**
 * What a client may do with the same request:
 * `as_is` send it again after a pause; `fix_first` change it (or its credentials) before sending it again;
 * `no` it gets the same answer until something else changes.
 */
export type RetryRule = 'as_is' | 'fix_first' | 'no'

/** One row of the table of errors. */
export interface ErrorEntry {
  readonly status: number
  readonly when: string
  readonly retry: RetryRule
}

const row = <const Status extends number>(status: Status, retry: RetryRule, when: string) =>
  Object.freeze({ status, retry, when })

/** Every error the service answers with. Codes are stable; messages are for people and never to be matched. */
export const ERRORS = Object.freeze({
  VALIDATION_ERROR: row(400, 'fix_first', 'Body or query does not match the schema; `details.issues` lists each path.'),

  UNAUTHENTICATED: row(401, 'fix_first', 'Missing signature headers or API key on a private endpoint.'),
  INVALID_SIGNATURE: row(401, 'fix_first', 'Signature does not recover to the agent header.'),
  TIMESTAMP_OUT_OF_WINDOW: row(401, 'fix_first', 'Timestamp more than 30 s from server time.'),
  NONCE_REUSED: row(401, 'fix_first', 'Nonce already used by this agent.'),
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
  TRADER_MISMATCH: row(403, 'fix_first', 'The address in the path is not the account the credentials belong to.'),

  CHAIN_NOT_FOUND: row(404, 'no', 'No such chain on this deployment.'),
  MARKET_NOT_FOUND: row(404, 'no', 'No such market on this chain.'),
  ORDER_NOT_FOUND: row(404, 'no', 'No such order of this trader.'),
  POSITION_NOT_FOUND: row(404, 'no', 'No such position of this trader.'),
  AGENT_NOT_FOUND: row(404, 'no', 'No such agent on this chain.'),
  NOT_FOUND: row(404, 'no', 'No such route or method.'),

  IDEMPOTENCY_CONFLICT: row(409, 'fix_first', '`clientId` already used with a different order.'),
  ORDER_NOT_MODIFIABLE: row(409, 'no', 'The order is not in a state that accepts the change.'),
  TOO_MANY_PREPARED_ORDERS: row(
    409,
    'no',
    'The agent already has `details.limit` prepared orders that have not expired.',
  ),

  PRECISION_ERROR: row(422, 'fix_first', 'More decimals than the market allows.'),
  LEVERAGE_OUT_OF_RANGE: row(422, 'fix_first', 'The leverage is outside the range of the market.'),
  SIZE_BELOW_MINIMUM: row(422, 'fix_first', 'The size is smaller than the contracts accept.'),
  MARKET_CLOSED: row(422, 'no', "The market's trading session is closed."),
  COLLATERAL_NOT_SUPPORTED: row(422, 'fix_first', 'The collateral is not listed or not active on this chain.'),
  SIMULATION_REVERTED: row(
    422,
    'fix_first',
    'The contracts would revert; `details.errorName` is the custom error, `details.calldata` the inner call. Nothing was prepared.',
  ),
  SUBMISSION_MISMATCH: row(422, 'fix_first', 'The reported hash was mined without creating an order for this trader.'),
  UNSUPPORTED: row(422, 'no', 'Not available on this deployment or in v1.'),

  RATE_LIMITED: row(429, 'as_is', 'A limit is used up; retry after `Retry-After`. `details.scope` names the limit.'),

  INTERNAL: row(500, 'no', 'A bug; report it with the `x-request-id` response header and the time of the call.'),
  UPSTREAM_UNAVAILABLE: row(502, 'as_is', 'A backend behind the service did not answer.'),
  NOT_READY: row(503, 'as_is', 'The service is starting or a data feed is stale.'),
  CHAIN_READ_ONLY: row(503, 'no', 'No relayer for the facade on this chain; native reads and writes are unaffected.'),
}) satisfies Readonly<Record<string, ErrorEntry>>

export type ErrorCode = keyof typeof ERRORS
