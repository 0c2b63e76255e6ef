import type { LivePosition } from '../positions/positionModel.ts'
import {
  ApiError,
  BaseSize,
  DEFAULT_SLIPPAGE,
  Slippage,
  type ClosePositionRequest,
  type Decimal,
} from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import { readTerms, requirePrecision } from './bodyTerms.ts'
import { planClosing, positionSize, closingOrder } from './closing.ts'
import { marketOfPair, requireOpen } from './listed.ts'
import type { OrderPlan, TradingContext } from './plan.ts'

/** Plans the close of a position at market, in full or in part: an order of the opposite side. */
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
  if (slippage !== undefined) requirePrecision('slippage', slippage, Slippage.decimals)
  requireOpen(context, market)
  const asked = size === undefined ? whole : BaseSize.parse(size)!
  const expectedPrice = context.lastMarkOf(market).price
  const closing = planClosing({ position, market, size: asked, expectedPrice }, context)
  const request = {
    kind: 'close',
    market: market.symbol,
    pairIndex: trade.pairIndex,
    side: trade.long ? 'short' : 'long',
    type: 'market',
    size: size ?? BaseSize.format(whole),
    price: null,
    sl: null,
    tp: null,
    reduceOnly: true,
    slippage: slippage ?? DEFAULT_SLIPPAGE,
    clientId: null,
  } as const
  return closingOrder({ request, first: position, closings: [closing] }, context)
}

/** Throws when the size can't be closed. The position's own size is accepted as it is shown, whatever its decimals. */
function requireClosable(size: Decimal | undefined, whole: BaseSize, { sizePrecision }: ListedMarket): void {
  const wholeText = BaseSize.format(whole)
  if (size === undefined || size === wholeText) return
  requirePrecision('size', size, sizePrecision)
  if (BaseSize.parse(size)! <= whole) return
  const message = `The position has a size of ${wholeText}; ${size} of it can't be closed.`
  throw new ApiError('UNSUPPORTED', message, { size, positionSize: wholeText })
}
