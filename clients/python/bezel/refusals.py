"""One class for each error code. Made from the table of errors by `npm run reference`: do not edit."""

from __future__ import annotations

from typing import Any, TypedDict

from .errors import ApiError


class Details(TypedDict, total=False):
    """The fields that the details of every refusal have."""

    remedy: str
    requestId: str
    docs: str


class ValidationErrorDetails(Details, total=False):
    """The details of VALIDATION_ERROR."""

    issues: Any
    """List of `{path, message}`, one for each fault."""


class ValidationError(ApiError):
    """VALIDATION_ERROR, HTTP 400. The body or the query does not match the schema; `details.issues` lists each path."""

    code = "VALIDATION_ERROR"
    retryable = False
    details: ValidationErrorDetails


class Unauthenticated(ApiError):
    """UNAUTHENTICATED, HTTP 401. A private endpoint was called without signature headers or API key."""

    code = "UNAUTHENTICATED"
    retryable = False
    details: Details


class InvalidSignatureDetails(Details, total=False):
    """The details of INVALID_SIGNATURE."""

    operationId: Any
    """The operation; of a signed request also the primary type of the signed struct."""
    path: Any
    """The path with its query, exactly as it was received."""
    bodyHash: Any
    """Keccak256 of the bytes of the body as they were received."""
    method: Any
    """Only of signed requests: the method."""
    timestamp: Any
    """Only of signed requests: the timestamp of the header."""
    nonce: Any
    """Only of signed requests: the nonce of the header."""
    values: Any
    """Only of a struct that the trader's wallet signs in the body: the value of each of its members, as it has to be
    signed.
    """
    domain: Any
    """The EIP-712 domain of this deployment on this chain."""
    digest: Any
    """The 32 bytes that should have been signed; null when a value can not be encoded."""
    recovered: Any
    """The address that signed this digest with this signature; null when there is none."""


class InvalidSignature(ApiError):
    """INVALID_SIGNATURE, HTTP 401. The signature is not of the address that claims it; `details` has all that it was
    checked against.
    """

    code = "INVALID_SIGNATURE"
    retryable = False
    details: InvalidSignatureDetails


class TimestampOutOfWindowDetails(Details, total=False):
    """The details of TIMESTAMP_OUT_OF_WINDOW."""

    timestamp: Any
    """The timestamp that was sent."""
    serverTime: Any
    """The server's clock, epoch ms."""


class TimestampOutOfWindow(ApiError):
    """TIMESTAMP_OUT_OF_WINDOW, HTTP 401. The timestamp is more than 30 s from server time, or not in epoch
    milliseconds.
    """

    code = "TIMESTAMP_OUT_OF_WINDOW"
    retryable = False
    details: TimestampOutOfWindowDetails


class NonceReused(ApiError):
    """NONCE_REUSED, HTTP 401. The agent already used this nonce."""

    code = "NONCE_REUSED"
    retryable = False
    details: Details


class AgentUnknownDetails(Details, total=False):
    """The details of AGENT_UNKNOWN."""

    agent: Any
    """The address in the agent header."""


class AgentUnknown(ApiError):
    """AGENT_UNKNOWN, HTTP 401. The agent is not registered on this chain."""

    code = "AGENT_UNKNOWN"
    retryable = False
    details: AgentUnknownDetails


class ApiKeyUnknown(ApiError):
    """API_KEY_UNKNOWN, HTTP 401. The API key is not registered on this chain."""

    code = "API_KEY_UNKNOWN"
    retryable = False
    details: Details


class AgentNotDelegatedDetails(Details, total=False):
    """The details of AGENT_NOT_DELEGATED."""

    delegationTx: Any
    """`{to, data, chainId}` for the trader to send."""


class AgentNotDelegated(ApiError):
    """AGENT_NOT_DELEGATED, HTTP 403. The trader's on-chain delegate is not this agent; `details.delegationTx`
    carries the `setTradingDelegate` transaction.
    """

    code = "AGENT_NOT_DELEGATED"
    retryable = False
    details: AgentNotDelegatedDetails


class AgentExpired(ApiError):
    """AGENT_EXPIRED, HTTP 403. The expiry of the agent's scope has passed."""

    code = "AGENT_EXPIRED"
    retryable = False
    details: Details


class AgentRevoked(ApiError):
    """AGENT_REVOKED, HTTP 403. The trader revoked the agent."""

    code = "AGENT_REVOKED"
    retryable = False
    details: Details


class ScopeReadOnly(ApiError):
    """SCOPE_READ_ONLY, HTTP 403. The agent's scope is read-only."""

    code = "SCOPE_READ_ONLY"
    retryable = False
    details: Details


class ScopeMarketNotAllowedDetails(Details, total=False):
    """The details of SCOPE_MARKET_NOT_ALLOWED."""

    market: Any
    """The market of the request."""
    markets: Any
    """The markets that the scope allows."""


class ScopeMarketNotAllowed(ApiError):
    """SCOPE_MARKET_NOT_ALLOWED, HTTP 403. The agent's scope does not name this market."""

    code = "SCOPE_MARKET_NOT_ALLOWED"
    retryable = False
    details: ScopeMarketNotAllowedDetails


class ScopeLeverageExceededDetails(Details, total=False):
    """The details of SCOPE_LEVERAGE_EXCEEDED."""

    leverage: Any
    """The leverage of the request."""
    maxLeverage: Any
    """The maximum of the scope."""


class ScopeLeverageExceeded(ApiError):
    """SCOPE_LEVERAGE_EXCEEDED, HTTP 403. The leverage is above the maximum of the agent's scope."""

    code = "SCOPE_LEVERAGE_EXCEEDED"
    retryable = False
    details: ScopeLeverageExceededDetails


class ScopeSpendCapExceededDetails(Details, total=False):
    """The details of SCOPE_SPEND_CAP_EXCEEDED."""

    notionalUsd: Any
    """The notional of the request."""
    spentUsd: Any
    """The notional that was opened today (UTC)."""
    dailySpendCapUsd: Any
    """The daily cap of the scope."""


class ScopeSpendCapExceeded(ApiError):
    """SCOPE_SPEND_CAP_EXCEEDED, HTTP 403. The notional is above what is left of the agent's daily cap."""

    code = "SCOPE_SPEND_CAP_EXCEEDED"
    retryable = False
    details: ScopeSpendCapExceededDetails


class TraderMismatchDetails(Details, total=False):
    """The details of TRADER_MISMATCH."""

    trader: Any
    """Only of credentials: the trader that they belong to."""
    named: Any
    """Only of credentials: the trader that the path or the header names."""


class TraderMismatch(ApiError):
    """TRADER_MISMATCH, HTTP 403. The address in the path, or the trader that the request names, is not the account
    the credentials belong to.
    """

    code = "TRADER_MISMATCH"
    retryable = False
    details: TraderMismatchDetails


class ChainNotFoundDetails(Details, total=False):
    """The details of CHAIN_NOT_FOUND."""

    chains: Any
    """The chains that are served."""


class ChainNotFound(ApiError):
    """CHAIN_NOT_FOUND, HTTP 404. This deployment serves no such chain."""

    code = "CHAIN_NOT_FOUND"
    retryable = False
    details: ChainNotFoundDetails


class MarketNotFoundDetails(Details, total=False):
    """The details of MARKET_NOT_FOUND."""

    market: Any
    """The name that was sent, at most 24 characters of it."""
    nearest: Any
    """The name that was probably meant, as bodies and the stream spell it; or null."""
    nearestPath: Any
    """The same name as paths spell it; or null."""


class MarketNotFound(ApiError):
    """MARKET_NOT_FOUND, HTTP 404. There is no such market on this chain; `details.nearest` is the name that was
    probably meant.
    """

    code = "MARKET_NOT_FOUND"
    retryable = False
    details: MarketNotFoundDetails


class OrderNotFound(ApiError):
    """ORDER_NOT_FOUND, HTTP 404. The trader has no such order."""

    code = "ORDER_NOT_FOUND"
    retryable = False
    details: Details


class PositionNotFound(ApiError):
    """POSITION_NOT_FOUND, HTTP 404. The trader has no such position."""

    code = "POSITION_NOT_FOUND"
    retryable = False
    details: Details


class AgentNotFound(ApiError):
    """AGENT_NOT_FOUND, HTTP 404. There is no such agent on this chain."""

    code = "AGENT_NOT_FOUND"
    retryable = False
    details: Details


class NotFound(ApiError):
    """NOT_FOUND, HTTP 404. There is no such route, or it does not have this method."""

    code = "NOT_FOUND"
    retryable = False
    details: Details


class IdempotencyConflictDetails(Details, total=False):
    """The details of IDEMPOTENCY_CONFLICT."""

    clientId: Any
    """The `clientId` of the request."""
    differing: Any
    """The fields that differ from the earlier order."""


class IdempotencyConflict(ApiError):
    """IDEMPOTENCY_CONFLICT, HTTP 409. The `clientId` was already used for a different order."""

    code = "IDEMPOTENCY_CONFLICT"
    retryable = False
    details: IdempotencyConflictDetails


class OrderNotModifiableDetails(Details, total=False):
    """The details of ORDER_NOT_MODIFIABLE."""

    id: Any
    """The id of the order."""
    status: Any
    """Its current status."""


class OrderNotModifiable(ApiError):
    """ORDER_NOT_MODIFIABLE, HTTP 409. The order, or the change of a position, is not in a state that accepts this."""

    code = "ORDER_NOT_MODIFIABLE"
    retryable = False
    details: OrderNotModifiableDetails


class TooManyPreparedOrdersDetails(Details, total=False):
    """The details of TOO_MANY_PREPARED_ORDERS."""

    limit: Any
    """The number that is allowed."""


class TooManyPreparedOrders(ApiError):
    """TOO_MANY_PREPARED_ORDERS, HTTP 409. The agent already has `details.limit` prepared orders that have not
    expired.
    """

    code = "TOO_MANY_PREPARED_ORDERS"
    retryable = False
    details: TooManyPreparedOrdersDetails


class PrecisionErrorDetails(Details, total=False):
    """The details of PRECISION_ERROR."""

    field: Any
    """The name of the field."""
    value: Any
    """The value that was sent."""
    maxDecimals: Any
    """The number of decimals that are allowed."""


class PrecisionError(ApiError):
    """PRECISION_ERROR, HTTP 422. A number has more decimals than the market allows."""

    code = "PRECISION_ERROR"
    retryable = False
    details: PrecisionErrorDetails


class LeverageOutOfRangeDetails(Details, total=False):
    """The details of LEVERAGE_OUT_OF_RANGE."""

    leverage: Any
    """The leverage of the request."""
    minLeverage: Any
    """The minimum of the market."""
    maxLeverage: Any
    """The maximum of the market."""


class LeverageOutOfRange(ApiError):
    """LEVERAGE_OUT_OF_RANGE, HTTP 422. The leverage is outside the range of the market."""

    code = "LEVERAGE_OUT_OF_RANGE"
    retryable = False
    details: LeverageOutOfRangeDetails


class SizeBelowMinimumDetails(Details, total=False):
    """The details of SIZE_BELOW_MINIMUM."""

    notionalUsd: Any
    """Size × the price at which it is expected to execute, before skew."""
    minPositionUsd: Any
    """The minimum notional."""
    collateralUsd: Any
    """The collateral that the order needs."""
    minCollateralUsd: Any
    """The minimum collateral."""


class SizeBelowMinimum(ApiError):
    """SIZE_BELOW_MINIMUM, HTTP 422. The size is smaller than the contracts accept."""

    code = "SIZE_BELOW_MINIMUM"
    retryable = False
    details: SizeBelowMinimumDetails


class MarketClosedDetails(Details, total=False):
    """The details of MARKET_CLOSED."""

    market: Any
    """The market of the request."""
    opensAt: Any
    """The time at which its trading hours begin again, epoch ms; null when nobody knows."""


class MarketClosed(ApiError):
    """MARKET_CLOSED, HTTP 422. The market's trading session is closed; `details.opensAt` says until when."""

    code = "MARKET_CLOSED"
    retryable = False
    details: MarketClosedDetails


class CollateralNotSupportedDetails(Details, total=False):
    """The details of COLLATERAL_NOT_SUPPORTED."""

    collateral: Any
    """The collateral of the request."""
    supported: Any
    """The collaterals that can be used."""


class CollateralNotSupported(ApiError):
    """COLLATERAL_NOT_SUPPORTED, HTTP 422. The collateral is not listed or not active on this chain."""

    code = "COLLATERAL_NOT_SUPPORTED"
    retryable = False
    details: CollateralNotSupportedDetails


class SimulationRevertedDetails(Details, total=False):
    """The details of SIMULATION_REVERTED."""

    errorName: Any
    """Custom error of the contracts, or null."""
    cause: Any
    """Only of [known errors](#contract-errors): the state or value that leads to it."""
    calldata: Any
    """The inner call, to replay."""
    collateral: Any
    """Only where balance or allowance is missing: the token."""
    needed: Any
    """Only with `collateral`: the amount that the request takes."""
    balance: Any
    """Only with `collateral`: the trader's balance."""
    allowance: Any
    """Only with `collateral`: the trader's allowance for the Diamond."""
    approvalTx: Any
    """Only where allowance is missing: `{to, data, chainId}`, the trader's `approve` of what is needed."""


class SimulationReverted(ApiError):
    """SIMULATION_REVERTED, HTTP 422. The contracts would revert; `details.errorName` is the custom error, with
    `cause` and `remedy`, `details.calldata` the inner call. Nothing was prepared.
    """

    code = "SIMULATION_REVERTED"
    retryable = False
    details: SimulationRevertedDetails


class SubmissionMismatch(ApiError):
    """SUBMISSION_MISMATCH, HTTP 422. The reported hash is another order's, somebody else's, or was mined without
    creating this order; it changes nothing.
    """

    code = "SUBMISSION_MISMATCH"
    retryable = False
    details: Details


class UnsupportedDetails(Details, total=False):
    """The details of UNSUPPORTED."""

    field: Any
    """Only for a value that the contracts would never honour: the name of the field."""
    value: Any
    """Only with `field`: the value that was sent."""
    side: Any
    """Only with `field`: the side of the order or position."""
    reference: Any
    """Only with `field`: the price that the value is measured by."""
    nearest: Any
    """Only for an amount of collateral below one step: `{below, above}`, the amounts around it."""


class Unsupported(ApiError):
    """UNSUPPORTED, HTTP 422. The feature is not available on this deployment or in v1, or the contracts would take
    the value and never honour it.
    """

    code = "UNSUPPORTED"
    retryable = False
    details: UnsupportedDetails


class RateLimitedDetails(Details, total=False):
    """The details of RATE_LIMITED."""

    scope: Any
    """The limit: `ip`, `agent` or `agent-writes`."""


class RateLimited(ApiError):
    """RATE_LIMITED, HTTP 429. A limit is used up; retry after the seconds in `Retry-After`. `details.scope` names
    it.
    """

    code = "RATE_LIMITED"
    retryable = True
    details: RateLimitedDetails


class Internal(ApiError):
    """INTERNAL, HTTP 500. A bug; report it with the `x-request-id` response header and the time of the call."""

    code = "INTERNAL"
    retryable = False
    details: Details


class UpstreamUnavailable(ApiError):
    """UPSTREAM_UNAVAILABLE, HTTP 502. A backend behind the service did not answer."""

    code = "UPSTREAM_UNAVAILABLE"
    retryable = True
    details: Details


class NotReadyDetails(Details, total=False):
    """The details of NOT_READY."""

    reason: Any
    """The cause, such as `starting`, `snapshot`, `feed_stale`, `chain_lagging`, `overloaded`, `reorg_too_deep`,
    `diamond_changed`, `relayer_elsewhere`, `paused`, `clock`, `stopping`, `store_lagging` or `store_unavailable`.
    """


class NotReady(ApiError):
    """NOT_READY, HTTP 503. The service is starting, a data feed is stale, the contracts have changed, or the
    operator has paused this.
    """

    code = "NOT_READY"
    retryable = True
    details: NotReadyDetails


class ChainReadOnly(ApiError):
    """CHAIN_READ_ONLY, HTTP 503. The facade has no relayer on this chain; native reads and writes are unaffected."""

    code = "CHAIN_READ_ONLY"
    retryable = False
    details: Details


REFUSALS: dict[str, type[ApiError]] = {
    "VALIDATION_ERROR": ValidationError,
    "UNAUTHENTICATED": Unauthenticated,
    "INVALID_SIGNATURE": InvalidSignature,
    "TIMESTAMP_OUT_OF_WINDOW": TimestampOutOfWindow,
    "NONCE_REUSED": NonceReused,
    "AGENT_UNKNOWN": AgentUnknown,
    "API_KEY_UNKNOWN": ApiKeyUnknown,
    "AGENT_NOT_DELEGATED": AgentNotDelegated,
    "AGENT_EXPIRED": AgentExpired,
    "AGENT_REVOKED": AgentRevoked,
    "SCOPE_READ_ONLY": ScopeReadOnly,
    "SCOPE_MARKET_NOT_ALLOWED": ScopeMarketNotAllowed,
    "SCOPE_LEVERAGE_EXCEEDED": ScopeLeverageExceeded,
    "SCOPE_SPEND_CAP_EXCEEDED": ScopeSpendCapExceeded,
    "TRADER_MISMATCH": TraderMismatch,
    "CHAIN_NOT_FOUND": ChainNotFound,
    "MARKET_NOT_FOUND": MarketNotFound,
    "ORDER_NOT_FOUND": OrderNotFound,
    "POSITION_NOT_FOUND": PositionNotFound,
    "AGENT_NOT_FOUND": AgentNotFound,
    "NOT_FOUND": NotFound,
    "IDEMPOTENCY_CONFLICT": IdempotencyConflict,
    "ORDER_NOT_MODIFIABLE": OrderNotModifiable,
    "TOO_MANY_PREPARED_ORDERS": TooManyPreparedOrders,
    "PRECISION_ERROR": PrecisionError,
    "LEVERAGE_OUT_OF_RANGE": LeverageOutOfRange,
    "SIZE_BELOW_MINIMUM": SizeBelowMinimum,
    "MARKET_CLOSED": MarketClosed,
    "COLLATERAL_NOT_SUPPORTED": CollateralNotSupported,
    "SIMULATION_REVERTED": SimulationReverted,
    "SUBMISSION_MISMATCH": SubmissionMismatch,
    "UNSUPPORTED": Unsupported,
    "RATE_LIMITED": RateLimited,
    "INTERNAL": Internal,
    "UPSTREAM_UNAVAILABLE": UpstreamUnavailable,
    "NOT_READY": NotReady,
    "CHAIN_READ_ONLY": ChainReadOnly,
}
