import type {
  Address,
  ChainSlug,
  Decimal,
  Fill,
  Hex,
  MarketSymbol,
  OrderId,
  OrderReason,
  OrderStatus,
  OrderType,
  Side,
} from '@bezel/protocol'

// What an order is made of: a record that never changes, the attempts prepared for it, and what the chain said. Its state is computed from
// these three and the clock by `foldOrder`, and from nothing else.

/** A position that a closing order takes from. */
export interface Leg {
  readonly positionId: OrderId
  readonly tradeIndex: number
  /** Base units. */
  readonly size: Decimal
}

/** What was asked for, fixed when it was made. */
export interface OrderRequest {
  /** `increase` only happens elsewhere: this service prepares none. */
  readonly kind: 'open' | 'close' | 'increase'
  readonly market: MarketSymbol
  readonly pairIndex: number
  /** The side it trades: for a close the opposite of the position's. */
  readonly side: Side
  readonly type: OrderType
  /** Base units. */
  readonly size: Decimal
  readonly price: Decimal | null
  readonly leverage: Decimal
  /** Symbol of the token. */
  readonly collateral: string
  readonly collateralIndex: number
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly reduceOnly: boolean
  /** Percent. */
  readonly slippage: Decimal
  readonly clientId: string | null
  /** Of a close; an open has none. */
  readonly legs: readonly Leg[]
}

/** The part of an order that is written once. */
export interface OrderRecord {
  readonly id: OrderId
  readonly chain: ChainSlug
  readonly trader: Address
  /** `null`: made elsewhere, and found on the chain. Of a second trade of a transaction that was prepared here: whom it counts for. */
  readonly agent: Address | null
  readonly request: OrderRequest
  readonly createdAtMs: number
  /** Of an order found on the chain: what it is found by again after a reorganisation, so that it keeps its id. */
  readonly originKey: string | null
  /** 1e18 USD; what the order counts against its agent's daily cap. 0 for closes and for orders made elsewhere. */
  readonly spendUsd: bigint
}

/** 8 random bytes that stand behind the calldata of a prepared transaction, by which it is known again on the chain. */
export type AttemptId = Hex

/** What a prepared transaction is to do. `open` also brings a close order to the chain. */
export type AttemptKind = 'open' | 'update' | 'replace' | 'cancel' | 'reclaim'

/** A transaction prepared for an order. */
export interface Attempt {
  readonly id: AttemptId
  readonly kind: AttemptKind
  readonly sender: Address
  /** The whole input, the id included. */
  readonly calldata: Hex
  readonly gas: string | null
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** Of `replace`: the size asked for now, which the chain does not keep. */
  readonly size: Decimal | null
  readonly submittedHash: Hex | null
  /** When `submittedHash` was reported. */
  readonly submittedAtMs: number | null
  /** The reported hash was mined without being this order: it counts as never reported. */
  readonly isMismatch: boolean
  /** Cancelled while prepared: it counts as expired at this time. */
  readonly withdrawnAtMs: number | null
}

/** Where in the chain something happened. */
export interface ChainPlace {
  readonly blockNumber: number
  readonly blockHash: Hex
  /** Unique in its block. Negative for what emits no log: -1 - the place of the transaction in its block. */
  readonly logIndex: number
  readonly txHash: Hex
  readonly timestampMs: number
}

/** Prices are 1e10 and slippage is 1e3 per percent, as the chain keeps them. */
export interface RestingTerms {
  readonly price: bigint
  readonly sl: bigint
  readonly tp: bigint
  readonly slippageP: number
}

/** What the chain said about an order. */
export type OrderEvent = ChainPlace & {
  /** Of the transaction it is in; `null` when none of ours. */
  readonly attemptId: AttemptId | null
} & (
    | { readonly kind: 'requested'; readonly pendingIndex: number; readonly tradeIndex: number }
    | ({ readonly kind: 'placed'; readonly tradeIndex: number } & RestingTerms)
    | ({ readonly kind: 'updated' } & RestingTerms)
    | { readonly kind: 'canceled' }
    | { readonly kind: 'executed'; readonly pendingIndex: number | null; readonly fill: Fill }
    | { readonly kind: 'refused'; readonly pendingIndex: number | null; readonly reason: OrderReason }
    | { readonly kind: 'reclaimed'; readonly pendingIndex: number }
    /** Of the transaction of an attempt, which then has no other event. */
    | { readonly kind: 'reverted' }
  )

/** What else decides: expiry goes by the clock, the oracle's timeout by blocks. */
export interface FoldClock {
  readonly nowMs: number
  readonly headBlock: number
  /** A market request can be reclaimed so many blocks after its own. */
  readonly timeoutBlocks: number
}

/** An order as it stands: everything that can change. */
export interface OrderState {
  readonly status: OrderStatus
  readonly size: Decimal
  readonly price: Decimal | null
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
  readonly txHash: Hex | null
  /** While prepared. */
  readonly expiresAtMs: number | null
  readonly fill: Fill | null
  readonly reason: OrderReason | null
  readonly updatedAtMs: number
  /** Of a resting order: its handle for update and cancel. */
  readonly tradeIndex: number | null
  /** Requests the oracle has not answered: handles for a reclaim. */
  readonly unanswered: readonly number[]
  /** Time moves it on at this moment, if nothing else does before. */
  readonly dueAtMs: number | null
  /** The oracle's timeout moves it on at this block. */
  readonly dueBlock: number | null
  /** When the last event that made it count came; the day of a revived order's spend. */
  readonly countedSinceMs: number
}
