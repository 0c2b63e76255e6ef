import { DAY_MS } from '@bezel/protocol'
import { createBreaks } from '../../ground/breaks.ts'
import type { LivePositions } from './livePositions.ts'
import type { KnownTerms, TradedPair } from './traderTerms.ts'

/** Number of positions that are looked at without a break. */
const POSITIONS_AT_ONCE = 500
/** Number of packed positions whose terms are due in one round: 300,000 of them are read in a few hours. */
const PACKED_PER_ROUND = 1_000

interface DueTermsOptions {
  readonly positions: Pick<LivePositions, 'active' | 'packedPairs'>
  readonly terms: Pick<KnownTerms, 'isDue'>
  readonly now: () => number
}

/**
 * Creates a function that returns the pairs of open positions whose terms are due, each once. Those of traders who are
 * not active are due once a day, some in each round, because there may be hundreds of thousands: governance gives own
 * terms rarely, and such a trader's are read within the hour once somebody asks for it. With breaks; a position that is
 * opened meanwhile may be left to the next round.
 */
export function createDueTerms({ positions, terms, now }: DueTermsOptions): () => Promise<readonly TradedPair[]> {
  let packed: Iterator<TradedPair> | undefined
  let packedSinceMs = -Infinity

  function takePacked(due: Map<string, TradedPair>): void {
    if (packed === undefined) {
      if (now() - packedSinceMs < DAY_MS) return
      packedSinceMs = now()
      packed = positions.packedPairs()[Symbol.iterator]()
    }
    for (let taken = 0; taken < PACKED_PER_ROUND; taken += 1) {
      const next = packed.next()
      if (next.done === true) {
        packed = undefined
        return
      }
      due.set(keyOf(next.value), next.value)
    }
  }

  return async () => {
    const due = new Map<string, TradedPair>()
    const takeBreak = createBreaks()
    let looked = 0
    for (const { record, state } of positions.active()) {
      const pair = { trader: record.trader, pairIndex: state.trade.pairIndex }
      if (terms.isDue(pair.trader, pair.pairIndex)) due.set(keyOf(pair), pair)
      looked += 1
      if (looked % POSITIONS_AT_ONCE === 0) await takeBreak()
    }
    takePacked(due)
    return [...due.values()]
  }
}

const keyOf = ({ trader, pairIndex }: TradedPair): string => `${trader} ${pairIndex}`
