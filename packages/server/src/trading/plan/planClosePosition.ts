import type { LivePosition } from '../positions/livePosition.ts'
import { ApiError, scaleDecimal, type ClosePositionRequest, type Decimal } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import { readTerms, requirePrecision } from './bodyTerms.ts'
import { planClosing, positionSize, sizeText } from './closing.ts'
import { closingOrder } from './closingOrder.ts'
import { BASE_SIZE_DECIMALS, SLIPPAGE_DECIMALS } from './decimals.ts'
import { marketOfPair, requireOpen } from './listed.ts'
import { DEFAULT_SLIPPAGE } from './normalizeOrder.ts'
import type { OrderPlan, TradingContext } from './plan.ts'

/** A close of a position at market, all of it or a part: an order of the opposite side. */
export function planClosePosition(
  position: LivePosition,
  body: ClosePositionRequest,
  context: TradingContext,
): OrderPlan {
  const { size, slippage } = readTerms({ size: body.size, slippage: body.slippage })
  const { trade } = position.state
  const market = marketOfPair(context.chain, trade.pairIndex)
  const whole = positionSize(position, context)
  requireClosable(size, whole, market)
  if (slippage !== undefined) requirePrecision('slippage', slippage, SLIPPAGE_DECIMALS)
  requireOpen(context, market)
  const asked = size === undefined ? whole : scaleDecimal(size, BASE_SIZE_DECIMALS)!
  const closing = planClosing({ position, market, size: asked, expectedPrice: context.markOf(market) }, context)
  const request = {
    kind: 'close',
    market: market.symbol,
    pairIndex: trade.pairIndex,
    side: trade.long ? 'short' : 'long',
    type: 'market',
    size: size ?? sizeText(whole),
    price: null,
    sl: null,
    tp: null,
    reduceOnly: true,
    slippage: slippage ?? DEFAULT_SLIPPAGE,
    clientId: null,
  } as const
  return closingOrder({ request, first: position, closings: [closing] }, context)
}

/** The position's own size is taken as it is shown, whatever its decimals. */
function requireClosable(size: Decimal | undefined, whole: bigint, { sizePrecision }: ListedMarket): void {
  const wholeText = sizeText(whole)
  if (size === undefined || size === wholeText) return
  requirePrecision('size', size, sizePrecision)
  if (scaleDecimal(size, BASE_SIZE_DECIMALS)! <= whole) return
  const message = `The position has a size of ${wholeText}; ${size} of it can't be closed.`
  throw new ApiError('UNSUPPORTED', message, { size, positionSize: wholeText })
}
