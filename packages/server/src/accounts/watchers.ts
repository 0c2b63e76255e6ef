import type { Address } from '@bezel/protocol'

/** Whose account somebody wants to hear of. */
export interface Watchers {
  /** Once for each who wants to; returns what ends it. */
  watch(trader: Address): () => void
  has(trader: Address): boolean
  traders(): Iterable<Address>
}

export function createWatchers(): Watchers {
  const counts = new Map<Address, number>()

  function leave(trader: Address): void {
    const left = counts.get(trader)! - 1
    if (left === 0) counts.delete(trader)
    else counts.set(trader, left)
  }

  return {
    watch(trader) {
      counts.set(trader, (counts.get(trader) ?? 0) + 1)
      let isWatching = true
      return () => {
        if (isWatching) leave(trader)
        isWatching = false
      }
    },
    has: (trader) => counts.has(trader),
    traders: () => counts.keys(),
  }
}
