import type { Address } from '@bezel/protocol'
import { putLast } from '../ground/putLast.ts'

/** Who sends private requests: for them the background rounds keep fresh what is read of the chain. */
export interface Activity {
  /** This trader sent a private request. */
  touch(trader: Address): void
  isActive(trader: Address): boolean
  /** Who sent a private request in the last minute. */
  active(): Address[]
}

/** Who has sent no private request for so long is left out of the rounds. */
const ACTIVE_MS = 60_000

/** Bounds a round; a trader beyond it reads for itself. */
const MAX_ACTIVE_TRADERS = 5_000

export function createActivity(now: () => number): Activity {
  /** When each was last active, oldest first. */
  const times = new Map<Address, number>()
  return {
    touch: (trader) => putLast(times, trader, now(), MAX_ACTIVE_TRADERS),
    isActive: (trader) => now() - (times.get(trader) ?? Number.NEGATIVE_INFINITY) <= ACTIVE_MS,
    active() {
      dropBefore(times, now() - ACTIVE_MS)
      return [...times.keys()]
    },
  }
}

/** Of entries that are oldest first. */
function dropBefore(times: Map<Address, number>, sinceMs: number): void {
  for (const [trader, atMs] of times) {
    if (atMs >= sinceMs) break
    times.delete(trader)
  }
}
