import type { Address, ChainSlug, CollateralAmount, OrderId, Price, TokenSize } from '@bezel/protocol'
import type { ChainPlace } from '../orders/orderModel.ts'
import type { LiquidationParams, Trade, TradeFeesData, TradeInfo } from '../valuation/chainState.ts'

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
    | {
        readonly kind: 'holdingFeesStarted'
        readonly initialAccFundingFeeP: bigint
        readonly initialAccBorrowingFeeP: bigint
      }
    /** `null` when the event does not carry the value. */
    | {
        readonly kind: 'realized'
        readonly realizedTradingFeesCollateral: CollateralAmount | null
        readonly realizedPnlCollateral: CollateralAmount | null
      }
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
  )

/** The current state of a position. */
export interface PositionState {
  readonly isOpen: boolean
  readonly trade: Trade
  readonly info: TradeInfo
  readonly liquidationParams: LiquidationParams
  readonly feesData: TradeFeesData
  /**
   * Distance from the expected or trigger price at which it may be closed, 1e3 per percent. 0 means the Diamond's
   * default, 1 %.
   */
  readonly maxClosingSlippageP: number
  readonly openedAtBlock: number
  readonly openedAtMs: number
  readonly updatedAtMs: number
}

/** A position that is open now. */
export interface LivePosition {
  readonly record: PositionRecord
  readonly state: PositionState
}

/** A change that a fold found. `undefined` means that the position does not exist any more, or did not exist before. */
export interface PositionChange {
  readonly record: PositionRecord
  readonly before: PositionState | undefined
  readonly after: PositionState | undefined
}
