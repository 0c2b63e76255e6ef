import type { ChainPlace } from '../trading/orders/orderModel.ts'
import type { PositionEvent } from '../trading/positions/positionModel.ts'
import type { LiquidationParams, Trade, TradeInfo } from '../trading/valuation/chainState.ts'
import type { DiamondEvent, EventOf } from '../chain/events/index.ts'

type Body<Event> = Event extends unknown ? Omit<Event, keyof ChainPlace> : never
/** A position event without its place. */
export type PositionEventBody = Body<PositionEvent>

/** Which trade an event is about, and what it says of it. */
export interface PositionNews {
  readonly trader: `0x${string}`
  readonly tradeIndex: number
  readonly body: PositionEventBody
}

/**
 * Events that say on their own what changed in a position. `undefined` for all others. Of what the Diamond keeps about a trade's fees, only
 * the four numbers that a valuation needs are followed; each event carries their new values, so none depends on an earlier one.
 */
export function positionNewsOf(event: DiamondEvent): PositionNews | undefined {
  const { name, args } = event
  switch (name) {
    case 'TradeInitialAccFeesStored':
      return news(args.trader, args.index, {
        kind: 'holdingFeesStarted',
        initialAccFundingFeeP: args.newInitialAccFundingFeeP,
        initialAccBorrowingFeeP: args.newInitialAccBorrowingFeeP,
      })
    case 'TradingFeesRealized':
      return news(args.trader, args.index, realized(args.newRealizedFeesCollateral, args.newRealizedPnlCollateral))
    case 'HoldingFeesChargedOnTrade':
      return news(
        args.trader,
        args.index,
        realized(args.newRealizedTradingFeesCollateral, args.newRealizedPnlCollateral),
      )
    case 'HoldingFeesRealizedOnTrade':
    case 'PnlRealizedOnOpenTrade':
      return news(args.trader, args.index, realized(null, args.newRealizedPnlCollateral))
    case 'TradeTpUpdated':
      return news(args.user, args.index, { kind: 'tpUpdated', tp: args.newTp })
    case 'TradeSlUpdated':
      return news(args.user, args.index, { kind: 'slUpdated', sl: args.newSl })
    case 'TradeMaxClosingSlippagePUpdated':
      return news(args.user, args.index, { kind: 'closingSlippageUpdated', maxSlippageP: args.maxClosingSlippageP })
    case 'TradeCollateralUpdated':
      return news(args.user, args.index, { kind: 'collateralUpdated', collateralAmount: args.collateralAmount })
    case 'TradeClosed':
      return news(args.user, args.index, { kind: 'closed' })
    default:
      return undefined
  }
}

function news(trader: `0x${string}`, tradeIndex: number, body: PositionEventBody): PositionNews {
  return { trader, tradeIndex, body }
}

function realized(
  realizedTradingFeesCollateral: bigint | null,
  realizedPnlCollateral: bigint | null,
): PositionEventBody {
  return { kind: 'realized', realizedTradingFeesCollateral, realizedPnlCollateral }
}

export function openedBody({ args }: EventOf<'TradeStored'>): PositionEventBody {
  return {
    kind: 'opened',
    trade: tradeOf(args.trade),
    info: infoOf(args.tradeInfo),
    liquidationParams: args.liquidationParams,
    maxClosingSlippageP: args.tradeInfo.maxSlippageP,
  }
}

/** `renewed`: the liquidation parameters that an increase gives it; `null` for every other change. */
export function resizedBody(
  { args }: EventOf<'TradePositionUpdated'>,
  renewed: LiquidationParams | null,
): PositionEventBody {
  return {
    kind: 'resized',
    collateralAmount: args.collateralAmount,
    leverage: args.leverage,
    openPrice: args.openPrice,
    sl: args.newSl,
    positionSizeToken: args.newPositionSizeToken,
    renewedLiquidationParams: renewed,
  }
}

/** Without what nothing reads, so that it is not stored. */
function tradeOf({ __placeholder: _, ...trade }: EventOf<'TradeStored'>['args']['trade']): Trade {
  return trade
}

function infoOf(info: EventOf<'TradeStored'>['args']['tradeInfo']): TradeInfo {
  const { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock } = info
  return { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock }
}
