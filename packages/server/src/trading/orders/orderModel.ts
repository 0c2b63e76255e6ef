import type {
  Address,
  ChainSlug,
  CollateralAmount,
  Decimal,
  Fill,
  Hex,
  MarketSymbol,
  Order,
  OrderId,
  OrderReason,
  OrderStatus,
  OrderType,
  Price,
  Side,
  Usd,
} from '@bezel/protocol'

// The parts of an order: a record that never changes, the attempts prepared for it, and its events on the chain.
// `foldOrder` computes its state from these three and the clock, and from nothing else.

/** A position that a closing order closes, wholly or in part. */
export interface Leg {
  readonly positionId: OrderId
  readonly tradeIndex: number
  /** Base units. */
  readonly size: Decimal
}

/** The request of an order, fixed when the order was made. */
export interface OrderRequest {
  /** Kind of the order. An `increase` is only found on the chain: this service prepares none. */
  readonly kind: 'open' | 'close' | 'increase'
  readonly market: MarketSymbol
  readonly pairIndex: number
  /** The side that it trades; for a close the opposite of the position's. */
  readonly side: Side
  readonly type: OrderType
  /** Base units. */
  readonly size: Decimal
  readonly price: Decimal | null
  readonly leverage: Decimal
  /** Symbol of the collateral token. */
  readonly collateral: string
  readonly collateralIndex: number
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly reduceOnly: boolean
  /** Slippage in percent. */
  readonly slippage: Decimal
  readonly clientId: string | null
  /** Positions that a close takes from; empty for an open. */
  readonly legs: readonly Leg[]
}

/** The part of an order that never changes. */
export interface OrderRecord {
  readonly id: OrderId
  readonly chain: ChainSlug
  readonly trader: Address
  /**
   * Agent of the order; `null` when it was made elsewhere and found on the chain. A second trade in a transaction that
   * was prepared here has the agent against whose cap it counts.
   */
  readonly agent: Address | null
  readonly request: OrderRequest
  readonly createdAtMs: number
  /**
   * Key of an order that was found on the chain. It is the same after a reorganisation, so that the order keeps its id.
   */
  readonly originKey: string | null
  /** Amount that the order counts against its agent's daily cap. 0 for closes and for orders made elsewhere. */
  readonly spendUsd: Usd
}

/** Id of a prepared transaction: 8 random bytes appended to its calldata, by which it is recognised on the chain. */
export type AttemptId = Hex

/** The purpose of a prepared transaction. `open` also brings a close order to the chain. */
export type AttemptKind = 'open' | 'update' | 'replace' | 'cancel' | 'reclaim'

/** A transaction prepared for an order. */
export interface Attempt {
  readonly id: AttemptId
  readonly kind: AttemptKind
  readonly sender: Address
  /** Whole input of the transaction, including the id. */
  readonly calldata: Hex
  readonly gas: string | null
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** New size of a `replace`, which the chain does not keep; else `null`. */
  readonly size: Decimal | null
  readonly submittedHash: Hex | null
  /**
   * Time at which `submittedHash` was reported. For a hash that a node knew only after it was given up, the time at
   * which the node knew it.
   */
  readonly submittedAtMs: number | null
  /**
   * Time until which the reported hash counts as sent although no node knows it. `null` once a node knows it, and for a
   * transaction that this service sends itself.
   */
  readonly trustedUntilMs: number | null
  /** True when the reported hash was mined but was not this order: it is not shown. */
  readonly isMismatch: boolean
  /** Time at which it was cancelled while prepared, which counts as its expiry; else `null`. */
  readonly withdrawnAtMs: number | null
}

/** The place of an event in the chain. */
export interface ChainPlace {
  readonly blockNumber: number
  readonly blockHash: Hex
  /**
   * Index of the log, unique in its block. Negative for an event without a log: -1 - the index of its transaction, and
   * a million less for each further order of that transaction. What was found on the chain comes after all logs of the
   * block.
   */
  readonly logIndex: number
  /** Hash of the transaction; `null` for what was found on the chain, whose transaction is not known. */
  readonly txHash: Hex | null
  readonly timestampMs: number
}

/** The terms of a resting order, in the chain's scales. */
export interface RestingTerms {
  readonly price: Price
  readonly sl: Price
  readonly tp: Price
  /** Slippage, 1e3 per percent, like a `Slippage`. */
  readonly slippageP: number
}

/** An event of an order on the chain. */
export type OrderEvent = ChainPlace & {
  /** Id of the attempt whose transaction it is in; `null` when this service prepared none. */
  readonly attemptId: AttemptId | null
} & (
    | { readonly kind: 'requested'; readonly pendingIndex: number; readonly tradeIndex: number }
    | ({
        readonly kind: 'placed'
        readonly tradeIndex: number
        /** Collateral that the order holds; absent in events from before it was kept. */
        readonly collateralAmount?: CollateralAmount
      } & RestingTerms)
    | ({ readonly kind: 'updated' } & RestingTerms)
    | { readonly kind: 'canceled' }
    | {
        readonly kind: 'executed'
        readonly pendingIndex: number | null
        readonly fill: Fill
        /** Stop loss of the position that it opened; absent for a close, and in events from before it was kept. */
        readonly sl?: Price
      }
    | { readonly kind: 'refused'; readonly pendingIndex: number | null; readonly reason: OrderReason }
    | { readonly kind: 'reclaimed'; readonly pendingIndex: number }
    /** The transaction of an attempt failed; it has no other event then. */
    | { readonly kind: 'reverted' }
    /** A resting order that was found on the chain as it is. */
    | ({
        readonly kind: 'adopted'
        readonly found: 'resting'
        readonly tradeIndex: number
        readonly collateralAmount: CollateralAmount
      } & RestingTerms)
    /** A request to the oracle that was found waiting on the chain. */
    | {
        readonly kind: 'adopted'
        readonly found: 'request'
        readonly pendingIndex: number
        readonly tradeIndex: number
        /** Block of the request, from which its timeout counts. */
        readonly createdBlock: number
      }
  )

/** The time of a fold: expiry goes by the clock, the oracle's timeout by blocks. */
export interface FoldClock {
  readonly nowMs: number
  readonly headBlock: number
  /** Timestamp of the head block. */
  readonly headMs: number
  /** Blocks after which a market request can be reclaimed, counted from its own block. */
  readonly timeoutBlocks: number
}

/** The current state of an order: everything that can change. */
export interface OrderState {
  readonly status: OrderStatus
  readonly size: Decimal
  readonly price: Decimal | null
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
  readonly txHash: Hex | null
  /** Expiry of the prepared transaction, while the order is not on the chain. */
  readonly expiresAtMs: number | null
  readonly fill: Fill | null
  readonly reason: OrderReason | null
  readonly updatedAtMs: number
  /** Index of a resting order on the chain, which update and cancel refer to. */
  readonly tradeIndex: number | null
  /** Indices of the requests that the oracle has not answered, which a reclaim refers to. */
  readonly unanswered: readonly number[]
  /** Time at which its status, or what it counts against a cap, changes if nothing else happens before. */
  readonly dueAtMs: number | null
  /** Block at which the oracle's timeout changes its status. */
  readonly dueBlock: number | null
  /** Time since when it counts against its agent's cap (`countedSinceOf`); its day is the day of the spend. */
  readonly countedSinceMs: number
}

/** A change that a fold found. `undefined` means that the order does not exist any more, or did not exist before. */
export interface OrderChange {
  readonly record: OrderRecord
  readonly before: OrderState | undefined
  readonly after: OrderState | undefined
}

/** Returns the origin key of a resting order or a position that was found on the chain without its transaction. */
export function foundTradeKey(trader: Address, tradeIndex: number): string {
  return `trade:${trader}:${tradeIndex}`
}

/** Returns the origin key of a request to the oracle that was found waiting on the chain. */
export function foundRequestKey(trader: Address, pendingIndex: number): string {
  return `pending:${trader}:${pendingIndex}`
}

/** Value of the oracle's timeout until the chain's setting is read. */
export const UNKNOWN_TIMEOUT_BLOCKS = 2 ** 52

/**
 * True once the chain's timeout is read. Before that, an order that waits for the oracle must not be folded: one that
 * had timed out would become pending again for good.
 */
export function isTimeoutKnown({ timeoutBlocks }: Pick<FoldClock, 'timeoutBlocks'>): boolean {
  return timeoutBlocks < UNKNOWN_TIMEOUT_BLOCKS
}

/** Returns an order as the interface shows it. */
export function orderAnswer({ id, trader, request, createdAtMs }: OrderRecord, state: OrderState): Order {
  return {
    id,
    trader,
    market: request.market,
    side: request.side,
    type: request.type,
    size: state.size,
    price: state.price,
    leverage: request.leverage,
    collateral: request.collateral,
    sl: state.sl,
    tp: state.tp,
    reduceOnly: request.reduceOnly,
    slippage: state.slippage,
    clientId: request.clientId,
    status: state.status,
    txHash: state.txHash,
    expiresAt: state.expiresAtMs,
    fill: state.fill,
    reason: state.reason,
    createdAt: createdAtMs,
    updatedAt: state.updatedAtMs,
  }
}

/** Returns orders as the interface shows them, without those that have no state now (a reorganisation undid them). */
export function answersOf(
  orders: readonly { readonly record: OrderRecord; readonly state: OrderState | undefined }[],
): Order[] {
  return orders.flatMap(({ record, state }) => (state === undefined ? [] : [orderAnswer(record, state)]))
}
