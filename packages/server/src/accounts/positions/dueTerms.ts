import { createBreaks } from '../../ground/breaks.ts'
import type { LivePositions } from './livePositions.ts'
import type { KnownTerms, TradedPair } from './traderTerms.ts'

/** Number of positions that are looked at without a break. */
const POSITIONS_AT_ONCE = 500

/**
 * Returns the pairs of active traders' open positions whose terms are due, each once. With breaks, because there may be
 * tens of thousands; one that is opened meanwhile may be left to the next round.
 */
export async function dueTerms({
  positions,
  terms,
}: {
  readonly positions: Pick<LivePositions, 'active'>
  readonly terms: Pick<KnownTerms, 'isDue'>
}): Promise<readonly TradedPair[]> {
  const due = new Map<string, TradedPair>()
  const takeBreak = createBreaks()
  let looked = 0
  for (const { record, state } of positions.active()) {
    const { trader } = record
    const { pairIndex } = state.trade
    if (terms.isDue(trader, pairIndex)) due.set(`${trader} ${pairIndex}`, { trader, pairIndex })
    looked += 1
    if (looked % POSITIONS_AT_ONCE === 0) await takeBreak()
  }
  return [...due.values()]
}
