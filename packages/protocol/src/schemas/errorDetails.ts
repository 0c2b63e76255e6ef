import type { ErrorCode, ErrorTrace } from '../values/errors.ts'
import type { TransactionRequest } from './agent.ts'
import type { PendingUpdate } from './position.ts'

// The `details` of errors by code: the numbers and names that the messages quote.

/** A fault of a request. */
interface Issue {
  /** Path of the value in the request, for instance `/body/size`. */
  readonly path: string
  /** Condition that must hold there. */
  readonly message: string
}

interface Issues {
  /** Faults of the request, at most 20, each with its path and what must hold there. */
  readonly issues?: readonly Issue[]
}

interface SignatureDetails {
  /** Operation that was checked: the primary type of a signed request. */
  readonly operationId?: string
  /** Path with its query, as it was received. */
  readonly path?: string
  /** keccak256 of the body, as it was received. */
  readonly bodyHash?: `0x${string}`
  /** EIP-712 digest that the signature was checked against; null when there is none. */
  readonly digest?: `0x${string}` | null
  /** Address that the signature is of; null when it is of nobody. */
  readonly recovered?: `0x${string}` | null
}

interface RevertDetails {
  /** Name of the contracts' own error; null when they named none. */
  readonly errorName: string | null
  /** Cause of the error in words, where it is known. */
  readonly cause?: string
  /** The call that would revert, to replay it. */
  readonly calldata: `0x${string}`
  /** Text that the contracts reverted with, where they named no error. */
  readonly reason?: string
  /** Symbol of the token of which balance or allowance is too small. */
  readonly collateral?: string
  /** Tokens that are needed. */
  readonly needed?: string
  /** Tokens in the trader's wallet. */
  readonly balance?: string
  /** Tokens that the trader lets the Diamond take. */
  readonly allowance?: string
  /** The trader's `approve` of what is needed, when an allowance is missing. */
  readonly approvalTx?: TransactionRequest
  /** The change of the position that is in the way, when one is. */
  readonly pendingUpdate?: PendingUpdate
}

interface SizeDetails {
  /** Notional of the order in USD. */
  readonly notionalUsd: string
  /** Least notional of the market in USD. */
  readonly minPositionUsd: string
  /** Collateral of the order in USD. */
  readonly collateralUsd: string
  /** Least collateral of the market in USD. */
  readonly minCollateralUsd: string
}

/** The fields of `details` by code, beyond those of every error. Codes that are not listed have none of their own. */
interface OwnDetails {
  readonly VALIDATION_ERROR: Issues
  readonly INVALID_SIGNATURE: SignatureDetails
  readonly TIMESTAMP_OUT_OF_WINDOW: {
    /** Timestamp of the request in epoch milliseconds. */
    readonly timestamp?: number
    /** Time of the service in epoch milliseconds. */
    readonly serverTime?: number
  }
  readonly AGENT_UNKNOWN: {
    /** Address of the agent that signed the request. */
    readonly agent?: `0x${string}`
  }
  readonly AGENT_NOT_DELEGATED: {
    /** The trader's `setTradingDelegate`, to be sent once. */
    readonly delegationTx: TransactionRequest
  }
  readonly SCOPE_MARKET_NOT_ALLOWED: {
    /** Symbol of the market that was asked for. */
    readonly market: string
    /** Symbols of the markets that the scope allows. */
    readonly markets: readonly string[]
  }
  readonly SCOPE_LEVERAGE_EXCEEDED: {
    /** Leverage that was asked for. */
    readonly leverage: string
    /** Greatest leverage that the scope allows. */
    readonly maxLeverage: string
  }
  readonly SCOPE_SPEND_CAP_EXCEEDED: {
    /** Notional that was asked for, in USD. */
    readonly notionalUsd: string
    /** Notional that the agent has opened today (UTC), in USD. */
    readonly spentUsd: string
    /** Daily cap of the scope in USD. */
    readonly dailySpendCapUsd: string
  }
  readonly TRADER_MISMATCH: {
    /** Trader that the credentials belong to. */
    readonly trader?: `0x${string}`
    /** Trader that the request names, in its path or in its header. */
    readonly named?: `0x${string}`
  }
  readonly CHAIN_NOT_FOUND: {
    /** Chains that this deployment serves. */
    readonly chains: readonly string[]
  }
  readonly MARKET_NOT_FOUND: {
    /** Market that was asked for, as it was written. */
    readonly market?: string
    /** Symbol of the market that was probably meant; null when none is near. */
    readonly nearest?: string | null
    /** Path of the market that was probably meant; null when none is near. */
    readonly nearestPath?: string | null
  }
  readonly IDEMPOTENCY_CONFLICT: {
    /** `clientId` that belongs to another order. */
    readonly clientId?: string
    /** Fields in which the two orders differ. */
    readonly differing?: readonly string[]
  }
  readonly ORDER_NOT_MODIFIABLE: {
    /** Id of the order. */
    readonly id?: string
    /** Status of the order. */
    readonly status?: string
    /** Number of the latest block. */
    readonly block?: number
    /** Number of the block from which on it can be reclaimed; null when nothing waits. */
    readonly timesOutAtBlock?: number | null
  }
  readonly TOO_MANY_PREPARED_ORDERS: {
    /** Greatest number of prepared orders of an agent. */
    readonly limit: number
  }
  readonly PRECISION_ERROR: {
    /** Name of the field with too many decimals. */
    readonly field: string
    /** Value that was sent. */
    readonly value: string
    /** Greatest number of decimals that the market takes there. */
    readonly maxDecimals: number
  }
  readonly LEVERAGE_OUT_OF_RANGE: {
    /** Leverage that was asked for. */
    readonly leverage: string
    /** Least leverage of the market. */
    readonly minLeverage: string
    /** Greatest leverage of the market. */
    readonly maxLeverage: string
  }
  readonly SIZE_BELOW_MINIMUM: SizeDetails
  readonly MARKET_CLOSED: {
    /** Symbol of the market. */
    readonly market: string
    /** Time in epoch milliseconds at which it opens; null when that is not known. */
    readonly opensAt: number | null
  }
  readonly COLLATERAL_NOT_SUPPORTED: {
    /** Collateral that was asked for. */
    readonly collateral: string
    /** Symbols of the collaterals that can be used. */
    readonly supported: readonly string[]
  }
  readonly SIMULATION_REVERTED: RevertDetails
  readonly RATE_LIMITED: {
    /** Limit that was exceeded. */
    readonly scope?: 'ip' | 'agent' | 'agent-writes'
  }
  readonly NOT_READY: {
    /** Reason, for instance `starting` or `feed_stale`. */
    readonly reason?: string
    /** Symbol of the market that is not ready, where it is about one. */
    readonly market?: string
  }
}

/** The `details` of an error. Every error has `remedy`, `requestId` and `docs`; further fields depend on its code. */
export type ErrorDetails<Code extends ErrorCode> = ErrorTrace &
  (Code extends keyof OwnDetails ? OwnDetails[Code] : Readonly<Record<string, unknown>>)
