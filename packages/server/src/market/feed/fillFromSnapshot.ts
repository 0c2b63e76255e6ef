import { setTimeout as sleep } from 'node:timers/promises'
import type { FeedPages } from './pages.ts'
import type { PriceBook } from './priceBook.ts'
import { reconnectDelayMs } from '../../ground/reconnectDelay.ts'

/**
 * Closed markets do not tick, so at every connection their prices come from the feed's snapshot. Asks until it answers or the connection
 * it was asked for is gone.
 */
export async function fillFromSnapshot(
  book: PriceBook,
  pages: Pick<FeedPages, 'snapshot'>,
  of: { now: () => number; random: () => number; isWanted: () => boolean },
): Promise<void> {
  for (let tries = 0; of.isWanted(); tries += 1) {
    const askedAtMs = of.now()
    try {
      const { marks, indices } = await pages.snapshot()
      book.applySnapshot(marks, indices, askedAtMs, of.now())
      return
    } catch {
      await sleep(reconnectDelayMs(tries, of.random()), undefined, { ref: false })
    }
  }
}
