import {
  BaseSize,
  CollateralAmount,
  CollateralPrice,
  Leverage,
  Slippage,
  Usd,
  type Hex,
  type Price,
} from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { Leg, OrderRequest } from '../orders/orderModel.ts'
import type { LivePosition } from '../positions/positionModel.ts'
import { baseSizeOfTokens, tokensOfTrade } from '../valuation/collateralAmounts.ts'
import { minCollateral } from '../valuation/fees.ts'
import { slippageCalls, tightCloseWarnings } from './closingSlippage.ts'
import { encodeCall, requireCallCount } from './encodeCall.ts'
import { collateralAt, marketOfPair } from './listed.ts'
import { oldPriceWarnings } from './oldPrice.ts'
import type { ClosedPart, OrderPlan, TradingContext } from './plan.ts'
import { reclaimCalls } from './planCancelUpdate.ts'

/**
 * Number of minimum fees that the collateral left by a partial close must cover; below that the Diamond reverts with
 * `InsufficientCollateral`.
 */
const MIN_FEES_LEFT = 1n

/** The part that an order takes from one position. */
export interface ClosingTerms {
  readonly position: LivePosition
  readonly market: ListedMarket
  readonly size: BaseSize
  readonly expectedPrice: Price
}

/** The planned close of a position. */
export interface Closing extends ClosedPart {
  readonly call: Hex
  readonly leg: Leg
}

/** Returns the whole size of a position, truncated. */
export function positionSize({ state: { trade, info } }: LivePosition, { chain }: TradingContext): BaseSize {
  const tokens = tokensOfTrade(trade, collateralAt(chain, trade.collateralIndex).state)
  return baseSizeOfTokens(tokens, CollateralPrice.of(info.collateralPriceUsd))
}

/** Truncates a size to the decimals of its market. */
export function truncateSize(size: BaseSize, { sizePrecision }: Pick<ListedMarket, 'sizePrecision'>): BaseSize {
  return BaseSize.of(size - (size % sizeUnit(sizePrecision)))
}

/** Returns the smallest size of a market above zero. */
export function sizeUnit(sizePrecision: number): BaseSize {
  return BaseSize.of(10n ** BigInt(BaseSize.decimals - sizePrecision))
}

/**
 * Plans the close of a position, in full or in part. It closes in full also when the size reaches the position's
 * truncated size, because an order could not name the rest, and when the Diamond would not keep the rest.
 */
export function planClosing(terms: ClosingTerms, context: TradingContext): Closing {
  const { position, market, size, expectedPrice } = terms
  const { trade } = position.state
  const whole = positionSize(position, context)
  const part = size >= truncateSize(whole, market) ? undefined : partOf(terms, whole, context)
  if (part === undefined) {
    return {
      position,
      call: encodeCall('closeTradeMarket', [trade.index, expectedPrice]),
      leg: legOf(position, whole),
      size: whole,
      part: null,
      expectedPrice,
    }
  }
  return {
    position,
    call: encodeCall('decreasePositionSize', [trade.index, part, 0, expectedPrice]),
    leg: legOf(position, size),
    size,
    part,
    expectedPrice,
  }
}

/**
 * Returns the collateral that goes with a part of the size: its share, rounded down so that no more is closed than was
 * requested, but at least one unit, because the Diamond rejects zero. `undefined` when too little would be left.
 */
function partOf(
  { position, market, size }: ClosingTerms,
  whole: BaseSize,
  { chain }: TradingContext,
): CollateralAmount | undefined {
  const { trade } = position.state
  const collateral = collateralAt(chain, trade.collateralIndex).state
  const share = (trade.collateralAmount * size) / whole
  const part = CollateralAmount.of(share > 0n ? share : 1n)
  const left = trade.collateralAmount - part
  return left > 0n && left >= minCollateral(MIN_FEES_LEFT, market.listing, collateral) ? part : undefined
}

function legOf({ record, state }: LivePosition, size: BaseSize): Leg {
  return { positionId: record.id, tradeIndex: state.trade.index, size: BaseSize.format(size) }
}

interface ClosingOrder {
  /** The request without the fields that come from the first position. */
  readonly request: Omit<OrderRequest, 'leverage' | 'collateral' | 'collateralIndex' | 'legs'>
  readonly first: LivePosition
  readonly closings: readonly Closing[]
}

/** Plans one order that closes one or more positions. It opens nothing, so it can neither raise leverage nor spend. */
export function closingOrder({ request, first, closings }: ClosingOrder, context: TradingContext): OrderPlan {
  const { chain } = context
  const { leverage, collateralIndex } = first.state.trade
  const calls = callsOf(request, closings)
  const touches = closings.map(({ position }) => position)
  requireCallCount(calls.length)
  return {
    kind: 'open',
    calls,
    action: { market: request.market, leverage: null, spendUsd: Usd.zero },
    validity: 'market',
    takes: null,
    warnings: [
      ...oldPriceWarnings(marketOfPair(chain, request.pairIndex), context),
      ...tightCloseWarnings(Slippage.parse(request.slippage)!, touches),
    ],
    touches,
    closes: closings,
    request: {
      ...request,
      leverage: Leverage.format(Leverage.of(leverage)),
      collateral: collateralAt(chain, collateralIndex).symbol,
      collateralIndex,
      legs: closings.map(({ leg }) => leg),
    },
  }
}

/**
 * Returns the calls, each close preceded by the reclaim of a timed-out change, which would be in its way, and by a call
 * that sets the order's slippage where the position has another one. The chain keeps the closing slippage per position,
 * so an earlier close may have changed it.
 */
function callsOf({ slippage }: Pick<OrderRequest, 'slippage'>, closings: readonly Closing[]): Hex[] {
  const asked = Slippage.parse(slippage)!
  return closings.flatMap(({ position, call }) => [...reclaimCalls(position), ...slippageCalls(position, asked), call])
}
