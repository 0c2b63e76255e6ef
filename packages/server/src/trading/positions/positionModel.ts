import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { ChainPlace } from '../orders/orderModel.ts'
import type { LiquidationParams, Trade, TradeFeesData, TradeInfo } from '../valuation/chainState.ts'

/** The part of a position that is written once. Every position comes from an order, ours or one found on the chain. */
export interface PositionRecord {
  readonly id: OrderId
  readonly chain: ChainSlug
  readonly trader: Address
  readonly originOrderId: OrderId
}

/** What the chain said about a position. Scales are the chain's. */
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
    /** `null`: this event does not tell. */
    | {
        readonly kind: 'realized'
        readonly realizedTradingFeesCollateral: bigint | null
        readonly realizedPnlCollateral: bigint | null
      }
    | { readonly kind: 'tpUpdated'; readonly tp: bigint }
    | { readonly kind: 'slUpdated'; readonly sl: bigint }
    | { readonly kind: 'closingSlippageUpdated'; readonly maxSlippageP: number }
    | {
        readonly kind: 'resized'
        readonly collateralAmount: bigint
        readonly leverage: number
        readonly openPrice: bigint
        readonly sl: bigint
        readonly positionSizeToken: bigint
        /** An increase also renews the liquidation parameters: those of the pair's group then. */
        readonly renewedLiquidationParams: LiquidationParams | null
      }
    | { readonly kind: 'collateralUpdated'; readonly collateralAmount: bigint }
    | { readonly kind: 'closed' }
  )

/** A position as it stands. */
export interface PositionState {
  readonly isOpen: boolean
  readonly trade: Trade
  readonly info: TradeInfo
  readonly liquidationParams: LiquidationParams
  readonly feesData: TradeFeesData
  /** 1e3 per percent: how far from the expected or trigger price it may be closed. 0 is the Diamond's default, 1 %. */
  readonly maxClosingSlippageP: number
  readonly openedAtBlock: number
  readonly openedAtMs: number
  readonly updatedAtMs: number
}
