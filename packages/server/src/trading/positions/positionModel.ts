import type {
  Address,
  ChainSlug,
  CollateralAmount,
  Hex,
  OrderId,
  OrderReason,
  PendingUpdateStatus,
  PositionUpdateKind,
  Price,
  TokenSize,
} from '@bezel/protocol'
import type { AttemptId, ChainPlace } from '../orders/orderModel.ts'
import type {
  BorrowingInitialAccFees,
  LiquidationParams,
  Trade,
  TradeFeesData,
  TradeInfo,
  TraderTerms,
} from '../valuation/chainState.ts'

/**
 * The part of a position that never changes. Every position comes from an order, made by this service or found on the
 * chain.
 */
export interface PositionRecord {
  readonly id: OrderId
  readonly chain: ChainSlug
  readonly trader: Address
  readonly originOrderId: OrderId
}

/** An event of a position on the chain. Scales are the chain's. */
export type PositionEvent = ChainPlace &
  (
    | {
        readonly kind: 'opened'
        readonly trade: Trade
        readonly info: TradeInfo
        readonly liquidationParams: LiquidationParams
        readonly maxClosingSlippageP: number
      }
    /** Found on the chain as it is, which replaces everything that was known of it. */
    | {
        readonly kind: 'adopted'
        readonly trade: Trade
        readonly info: TradeInfo
        readonly liquidationParams: LiquidationParams
        readonly feesData: TradeFeesData
        readonly oldBorrowing: BorrowingInitialAccFees | null
        readonly maxClosingSlippageP: number
        /** Block in which it was opened or last resized, which is all that the chain keeps. */
        readonly createdBlock: number
        /** The change that waits for the oracle. */
        readonly update: AskedUpdate | null
      }
    | {
        readonly kind: 'holdingFeesStarted'
        readonly initialAccFundingFeeP: bigint
        readonly initialAccBorrowingFeeP: bigint
      }
    | ({ readonly kind: 'oldBorrowingStarted' } & Omit<BorrowingInitialAccFees, 'block'>)
    /** `null` when the event does not carry the value. */
    | {
        readonly kind: 'realized'
        readonly realizedTradingFeesCollateral: CollateralAmount | null
        readonly realizedPnlCollateral: CollateralAmount | null
      }
    /** A part was closed and took its share of the record along; `feesData` is all that is left. */
    | { readonly kind: 'feesDownscaled'; readonly feesData: TradeFeesData }
    | { readonly kind: 'tpUpdated'; readonly tp: Price }
    | { readonly kind: 'slUpdated'; readonly sl: Price }
    | { readonly kind: 'closingSlippageUpdated'; readonly maxSlippageP: number }
    | {
        readonly kind: 'resized'
        readonly collateralAmount: CollateralAmount
        readonly leverage: number
        readonly openPrice: Price
        readonly sl: Price
        readonly positionSizeToken: TokenSize
        /**
         * Liquidation parameters after an increase, taken from the pair's group at that time; `null` for a decrease.
         */
        readonly renewedLiquidationParams: LiquidationParams | null
      }
    | { readonly kind: 'collateralUpdated'; readonly collateralAmount: CollateralAmount }
    | { readonly kind: 'closed' }
    /** A change was requested from the oracle. Leverage and collateral are as in the Diamond's pending order. */
    | {
        readonly kind: 'updateRequested'
        readonly pendingIndex: number
        readonly update: PositionUpdateKind
        readonly leverage: number
        readonly collateralAmount: CollateralAmount
        /** Id of the attempt whose transaction it is in; `null` when this service prepared none. */
        readonly attemptId: AttemptId | null
      }
    | { readonly kind: 'updateRefused'; readonly pendingIndex: number; readonly reason: OrderReason }
    /** The request is over: executed, refused or reclaimed. */
    | { readonly kind: 'updateEnded'; readonly pendingIndex: number }
  )

/** A change as the Diamond's pending order keeps it. */
export interface AskedUpdate {
  readonly pendingIndex: number
  readonly update: PositionUpdateKind
  readonly leverage: number
  readonly collateralAmount: CollateralAmount
  /** Block of the request. */
  readonly createdBlock: number
}

/** A change of a position that waits for the oracle, in the chain's scales. */
export interface WaitingUpdate {
  readonly kind: PositionUpdateKind
  /** Index of the pending order, which a reclaim refers to. */
  readonly pendingIndex: number
  /** Leverage that the position is to have, 1e3. */
  readonly leverage: number
  /** Collateral that the wallet gave with the request; negative for what it is to get. */
  readonly collateralDelta: CollateralAmount
  readonly attemptId: AttemptId | null
  /** Hash of the request's transaction; `null` when the request was found on the chain. */
  readonly txHash: Hex | null
  /** Time of the request; for one that was found on the chain, the time of the block at which it was found. */
  readonly createdAtMs: number
  readonly createdBlock: number
  /** The first block in which it can be reclaimed. */
  readonly timesOutAtBlock: number
  readonly status: PendingUpdateStatus
}

/** A change that the Diamond refused when the oracle answered. */
export interface UpdateRefusal extends Pick<WaitingUpdate, 'kind' | 'pendingIndex' | 'leverage'> {
  readonly reason: OrderReason
  readonly atMs: number
}

/** The current state of a position. */
export interface PositionState {
  readonly isOpen: boolean
  readonly trade: Trade
  readonly info: TradeInfo
  readonly liquidationParams: LiquidationParams
  readonly feesData: TradeFeesData
  /** The start of its first-generation borrowing fee; `null` when the chain has told none. */
  readonly oldBorrowing: BorrowingInitialAccFees | null
  /**
   * Distance from the expected or trigger price at which it may be closed, 1e3 per percent. 0 means the Diamond's
   * default, 1 %.
   */
  readonly maxClosingSlippageP: number
  readonly openedAtBlock: number
  readonly openedAtMs: number
  readonly updatedAtMs: number
  /** The change that waits for the oracle. A closed position keeps it, because its collateral is still locked. */
  readonly pendingUpdate: WaitingUpdate | null
  /** The last change that was refused. */
  readonly updateRefusal: UpdateRefusal | null
}

/** A position that is open now. */
export interface LivePosition {
  readonly record: PositionRecord
  readonly state: PositionState
  /** Terms of its trader in its pair. Left out: the ordinary ones. */
  readonly terms?: TraderTerms
}

/** A change that a fold found. `undefined` means that the position does not exist any more, or did not exist before. */
export interface PositionChange {
  readonly record: PositionRecord
  readonly before: PositionState | undefined
  readonly after: PositionState | undefined
}
