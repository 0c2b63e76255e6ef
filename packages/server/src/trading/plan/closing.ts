import type { LivePosition } from '../positions/livePosition.ts'
import { formatDecimal, type Decimal, type Hex } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { Leg } from '../orders/orderModel.ts'
import { baseSizeOfTokens, positionSizeCollateral, tokensOfCollateral } from '../valuation/collateralAmounts.ts'
import { minCollateral } from '../valuation/fees.ts'
import { BASE_SIZE_DECIMALS } from './decimals.ts'
import { encodeCall } from './encodeCall.ts'
import { collateralAt } from './listed.ts'
import type { TradingContext } from './plan.ts'

/** What a partial close leaves covers this many minimum fees; of less the Diamond says `InsufficientCollateral`. */
const MIN_FEES_LEFT = 1n

/** What to take from one position. Sizes are base units, 1e18. */
export interface ClosingTerms {
  readonly position: LivePosition
  readonly market: ListedMarket
  readonly size: bigint
  /** 1e10. */
  readonly expectedPrice: bigint
}

export interface Closing {
  readonly position: LivePosition
  readonly call: Hex
  readonly leg: Leg
  readonly size: bigint
}

/** Base units, 1e18, truncated. A trade from before v10 has no token size: its notional at the open price stands in. */
export function positionSize({ state: { trade, info } }: LivePosition, { chain }: TradingContext): bigint {
  const collateral = collateralAt(chain, trade.collateralIndex).state
  const tokens =
    trade.positionSizeToken > 0n
      ? trade.positionSizeToken
      : tokensOfCollateral(positionSizeCollateral(trade), trade.openPrice, collateral)
  return baseSizeOfTokens(tokens, BigInt(info.collateralPriceUsd))
}

/** A size as a market counts it: further decimals cut off. */
export function truncateSize(size: bigint, { sizePrecision }: Pick<ListedMarket, 'sizePrecision'>): bigint {
  return size - (size % sizeUnit(sizePrecision))
}

/** The smallest size of a market above zero. */
export function sizeUnit(sizePrecision: number): bigint {
  return 10n ** BigInt(BASE_SIZE_DECIMALS - sizePrecision)
}

/**
 * Closes all of a position, or a part. All of it also when the size reaches the position's as the market counts, since what is left could not be named
 * in an order, and when the Diamond would not keep what is left.
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
    }
  }
  return {
    position,
    call: encodeCall('decreasePositionSize', [trade.index, part, 0, expectedPrice]),
    leg: legOf(position, size),
    size,
  }
}

/**
 * The collateral that goes with a part of the size: its share, rounded down so that no more is closed than was said, but at least one unit, as
 * the Diamond takes no zero. `undefined` when too little would be left.
 */
function partOf(
  { position, market, size }: ClosingTerms,
  whole: bigint,
  { chain }: TradingContext,
): bigint | undefined {
  const { trade } = position.state
  const collateral = collateralAt(chain, trade.collateralIndex).state
  const share = (trade.collateralAmount * size) / whole
  const part = share > 0n ? share : 1n
  const left = trade.collateralAmount - part
  return left > 0n && left >= minCollateral(MIN_FEES_LEFT, market.listing, collateral) ? part : undefined
}

function legOf({ record, state }: LivePosition, size: bigint): Leg {
  return { positionId: record.id, tradeIndex: state.trade.index, size: sizeText(size) }
}

export function sizeText(size: bigint): Decimal {
  return formatDecimal(size, BASE_SIZE_DECIMALS)
}
