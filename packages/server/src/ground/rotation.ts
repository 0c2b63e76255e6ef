import type { Address } from '@bezel/protocol'

/** Whose turn it is, where not everybody can have one each time. */
export interface Rotation {
  /** At most `max` of the candidates: those whose last turn is the longest ago. Who is new has to wait for those who are there. */
  take(candidates: ReadonlySet<Address>, max: number): Set<Address>
}

export function createRotation(): Rotation {
  /** Next turn first. */
  const queue = new Set<Address>()
  return {
    take(candidates, max) {
      for (const trader of queue) if (!candidates.has(trader)) queue.delete(trader)
      for (const trader of candidates) queue.add(trader)
      const taken = new Set(queue.values().take(max))
      for (const trader of taken) {
        queue.delete(trader)
        queue.add(trader)
      }
      return taken
    },
  }
}
