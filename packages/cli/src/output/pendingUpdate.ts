import type { PendingUpdate } from '@bezel/sdk'
import { shortDecimal } from './text.ts'

/** Returns a change that waits for the oracle, in a few words: `leverage 5x, 300 USDC taken`. */
export function pendingWords({ kind, leverage, collateralDelta, status }: PendingUpdate, symbol: string): string {
  const amount = shortDecimal(collateralDelta.replace('-', ''), 2)
  const moves = collateralDelta.startsWith('-') ? `${amount} ${symbol} to come` : `${amount} ${symbol} taken`
  const words = [`${kind} ${shortDecimal(leverage, 3)}x`, ...(amount === '0' ? [] : [moves])]
  return [...words, ...(status === 'timed_out' ? ['timed out'] : [])].join(', ')
}

/** Returns the sentence that says how to get a change back which the oracle has not answered in time. */
export function reclaimAdvice(id: string): string {
  return `The oracle did not answer the change of position ${id} in time. Get it back with bezel reclaim ${id}; closing or changing the position does that too.`
}
