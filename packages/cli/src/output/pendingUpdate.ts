import type { PendingUpdate } from '@bezel/sdk'
import { shortAmount, shortLeverage } from './text.ts'

/** Returns a change that waits for the oracle, in a few words: `leverage 5x, 300 USDC taken`. */
export function pendingWords({ kind, leverage, collateralDelta, status }: PendingUpdate, symbol: string): string {
  const amount = shortAmount(collateralDelta.replace('-', ''))
  const moves = collateralDelta.startsWith('-') ? `${amount} ${symbol} to come` : `${amount} ${symbol} taken`
  const words = [`${kind} ${shortLeverage(leverage)}`, ...(amount === '0' ? [] : [moves])]
  return [...words, ...(status === 'timed_out' ? ['timed out'] : [])].join(', ')
}
