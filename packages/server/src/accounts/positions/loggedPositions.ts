import type { LivePosition } from '../../trading/positions/livePosition.ts'
import { formatDecimal, type Position } from '@bezel/protocol'
import type { PositionsText } from '../../journal/eventsOf.ts'
import { collateralOf, leverageDecimal, priceDecimal, symbolOf, tokensDecimal } from '../../trading/amounts.ts'
import type { ChainMarkets } from '../../trading/market/chainMarkets.ts'
import type { PriceBook } from '../../market/feed/priceBook.ts'
import { comparePositions, type LivePositions } from './livePositions.ts'
import { positionAnswer, valuationTimeS } from '../../trading/positions/positionAnswer.ts'

export interface LoggedPositionsOptions {
  readonly live: Pick<LivePositions, 'ofTrader'>
  readonly markets: () => ChainMarkets | undefined
  readonly book: Pick<PriceBook, 'get'>
  /** The last followed block. */
  readonly head: () => { readonly timestampMs: number } | undefined
  readonly onError: (error: unknown) => void
}

/**
 * A trader's open positions for an event of the log. It must be told with the block, whatever the feed does: each position is valued at the price
 * last heard of, or at its own entry while there is none. None may be missing, as that would say that it was closed.
 */
export function createLoggedPositions(options: LoggedPositionsOptions): PositionsText {
  const { live, markets, book, head, onError } = options

  function answerOf(position: LivePosition, chain: ChainMarkets): Position {
    const { pairIndex, openPrice } = position.state.trade
    const prices = book.get(pairIndex) ?? { mark: openPrice, index: openPrice }
    try {
      const answer = positionAnswer(position, chain, prices, valuationTimeS(chain, head()))
      if (answer !== undefined) return answer
      throw new Error(`the markets do not know pair ${pairIndex} of position ${position.record.id} yet`)
    } catch (error) {
      onError(error)
      return unvalued(position, chain)
    }
  }

  return (trader, changes) => {
    const chain = markets()
    // The follower applies nothing before they are read.
    if (chain === undefined) throw new Error('positions can not be told before the markets are read')
    const changed = changes.filter(({ record }) => record.trader === trader)
    const ids = new Set(changed.map(({ record }) => record.id))
    const positions = live.ofTrader(trader).filter(({ record }) => !ids.has(record.id))
    for (const { record, after } of changed) if (after?.isOpen === true) positions.push({ record, state: after })
    return JSON.stringify(positions.toSorted(comparePositions).map((position) => answerOf(position, chain)))
  }
}

/** What the chain itself says of it, as if nothing had moved since it was opened; the price of its liquidation is not known then. */
function unvalued({ record, state }: LivePosition, chain: ChainMarkets): Position {
  const { trade, info, openedAtBlock } = state
  const { symbol, decimals } = collateralOf(chain, trade.collateralIndex)
  return {
    id: record.id,
    trader: record.trader,
    market: symbolOf(chain, trade.pairIndex),
    pairIndex: trade.pairIndex,
    side: trade.long ? 'long' : 'short',
    size: tokensDecimal(trade.positionSizeToken, BigInt(info.collateralPriceUsd)),
    collateral: formatDecimal(trade.collateralAmount, decimals),
    collateralSymbol: symbol,
    leverage: leverageDecimal(trade.leverage),
    entryPrice: priceDecimal(trade.openPrice),
    markPrice: priceDecimal(trade.openPrice),
    liquidationPrice: '0',
    unrealizedPnl: '0',
    unrealizedPnlPercent: '0',
    fundingFee: '0',
    borrowingFee: '0',
    sl: priceDecimal(trade.sl),
    tp: priceDecimal(trade.tp),
    openedAtBlock,
    marginMode: 'isolated',
  }
}
