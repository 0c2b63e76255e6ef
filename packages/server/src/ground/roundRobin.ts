/** Selects items in rotation when there are more than fit into one round. */
export interface RoundRobin<Item> {
  /**
   * Returns at most `max` candidates: the ones that were taken the longest ago. A new candidate queues behind the
   * others.
   */
  take(candidates: ReadonlySet<Item>, max: number): Set<Item>
}

export function createRoundRobin<Item>(): RoundRobin<Item> {
  /** The candidates, in the order in which they are taken next. */
  const queue = new Set<Item>()
  return {
    take(candidates, max) {
      for (const item of queue) if (!candidates.has(item)) queue.delete(item)
      for (const item of candidates) queue.add(item)
      const taken = new Set(queue.values().take(max))
      for (const item of taken) {
        queue.delete(item)
        queue.add(item)
      }
      return taken
    },
  }
}
