import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { CollateralAmount, Price, type Position } from '@bezel/protocol'
import type { PositionsText } from '../../journal/accountLog.ts'
import { collateralOf, leverageDecimal, sizeDecimal, symbolOf, withTokens } from '../../trading/market/amounts.ts'
import type { ChainMarkets } from '../../trading/market/chainMarkets.ts'
import type { PriceBook } from '../../market/feed/priceBook.ts'
import type { KnownTerms } from './traderTerms.ts'
import { comparePositions, type LivePositions } from './livePositions.ts'
import { pendingUpdateAnswer } from '../../trading/positions/pendingUpdate.ts'
import { realizedCollateral } from '../../trading/valuation/profit.ts'
import {
  lastPrices,
  positionAnswer,
  valuationMoment,
  type FollowedHead,
} from '../../trading/positions/positionAnswer.ts'

export interface LoggedPositionsOptions {
  readonly live: Pick<LivePositions, 'ofTrader'>
  readonly terms: Pick<KnownTerms, 'of'>
  readonly markets: () => ChainMarkets | undefined
  readonly book: Pick<PriceBook, 'last'>
  /** Returns the last followed block. */
  readonly head: () => FollowedHead
  readonly onError: (error: unknown) => void
}

/**
 * Creates the function that renders a trader's open positions for an event of the log. The event is written with the
 * block, whatever the price feed does: each position is valued at the last known price, or at its own entry price while
 * there is none. No position may be left out, because that would say that it was closed.
 */
export function createLoggedPositions(options: LoggedPositionsOptions): PositionsText {
  const { live, terms, markets, book, head, onError } = options

  function answerOf(position: LivePosition, chain: ChainMarkets): Position {
    const { pairIndex } = position.state.trade
    const prices = lastPrices(position, book.last(pairIndex))
    try {
      const answer = positionAnswer(position, chain, prices, valuationMoment(chain, head()))
      if (answer !== undefined) return answer
      throw new Error(`the markets do not know pair ${pairIndex} of position ${position.record.id} yet`)
    } catch (error) {
      onError(error)
      return unvalued(position, chain)
    }
  }

  return (trader, changes) => {
    const chain = markets()
    // The follower applies no block before the markets are read.
    if (chain === undefined) throw new Error('positions can not be told before the markets are read')
    const ids = new Set(changes.map(({ record }) => record.id))
    const positions = live.ofTrader(trader).filter(({ record }) => !ids.has(record.id))
    for (const { record, after } of changes) {
      if (after?.isOpen !== true) continue
      positions.push({ record, state: after, terms: terms.of(trader, after.trade.pairIndex) })
    }
    return JSON.stringify(positions.toSorted(comparePositions).map((position) => answerOf(position, chain)))
  }
}

/**
 * Returns a position by what the chain itself says of it, as if no price had moved since it was opened. Its liquidation
 * price is not known then and shown as 0.
 */
function unvalued({ record, state }: LivePosition, chain: ChainMarkets): Position {
  const { trade, info, feesData, openedAtBlock, pendingUpdate } = state
  const { symbol, decimals } = collateralOf(chain, trade.collateralIndex)
  return {
    id: record.id,
    trader: record.trader,
    market: symbolOf(chain, trade.pairIndex),
    pairIndex: trade.pairIndex,
    side: trade.long ? 'long' : 'short',
    size: sizeDecimal(withTokens(chain, trade), info),
    collateral: CollateralAmount.format(trade.collateralAmount, decimals),
    collateralSymbol: symbol,
    leverage: leverageDecimal(trade),
    entryPrice: Price.format(trade.openPrice),
    markPrice: Price.format(trade.openPrice),
    liquidationPrice: '0',
    unrealizedPnl: '0',
    unrealizedPnlPercent: '0',
    fundingFee: '0',
    borrowingFee: '0',
    sl: Price.format(trade.sl),
    tp: Price.format(trade.tp),
    openedAtBlock,
    marginMode: 'isolated',
    priceAt: 0,
    pendingUpdate: pendingUpdateAnswer(pendingUpdate, decimals),
    realized: CollateralAmount.format(realizedCollateral(feesData), decimals),
  }
}
