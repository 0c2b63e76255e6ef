import type { Position } from '@bezel/protocol'
import type { PositionsText } from '../accounts/log/eventsOf.ts'
import type { ChainMarkets } from '../market/chainMarkets.ts'
import type { PriceBook } from '../market/feed/priceBook.ts'
import { comparePositions, type LivePosition, type LivePositions } from './livePositions.ts'
import { positionAnswer, valuationTimeS } from './positionAnswer.ts'

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
 * last heard of, or at its own entry while there is none. One that can't be valued at all is left out, as it is no reason to stop following.
 */
export function createLoggedPositions(options: LoggedPositionsOptions): PositionsText {
  const { live, markets, book, head, onError } = options

  function answerOf(position: LivePosition, chain: ChainMarkets): Position | undefined {
    try {
      const { pairIndex, openPrice } = position.state.trade
      const prices = book.get(pairIndex) ?? { mark: openPrice, index: openPrice }
      return positionAnswer(position, chain, prices, valuationTimeS(chain, head()))
    } catch (error) {
      onError(error)
      return undefined
    }
  }

  return (trader, changes) => {
    const chain = markets()
    if (chain === undefined) return '[]'
    const changed = changes.filter(({ record }) => record.trader === trader)
    const ids = new Set(changed.map(({ record }) => record.id))
    const positions = live.ofTrader(trader).filter(({ record }) => !ids.has(record.id))
    for (const { record, after } of changed) if (after?.isOpen === true) positions.push({ record, state: after })
    const answers = positions.sort(comparePositions).map((position) => answerOf(position, chain))
    return JSON.stringify(answers.filter((answer) => answer !== undefined))
  }
}
