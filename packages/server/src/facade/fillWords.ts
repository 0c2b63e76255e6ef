import type { FillHistoryEntry } from '@bezel/protocol'

/** A buy or a sell, as clients of the facade write it. */
export type BookSide = 'B' | 'A'

const OPENING: ReadonlySet<string> = new Set(['TradeOpenedMarket', 'TradeOpenedLimit', 'TradePosSizeIncrease'])

type Traded = Pick<FillHistoryEntry, 'action' | 'side'>

/** What was done: opening a long buys, closing it sells, and the other way round for a short. */
export function sideOfFill({ action, side }: Traded): BookSide {
  return (side === 'long') === OPENING.has(action) ? 'B' : 'A'
}

/** `Open Long`, `Close Short`. */
export function directionOfFill({ action, side }: Traded): string {
  return `${OPENING.has(action) ? 'Open' : 'Close'} ${side === 'long' ? 'Long' : 'Short'}`
}
