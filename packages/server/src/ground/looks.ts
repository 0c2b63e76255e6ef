/** Something that publishes itself when it is another than it was. */
export interface Lookable {
  look(): void
}

/**
 * Looks at what may have changed: at once while that takes a moment, and else in turns with breaks, so that a client who listens to everything
 * takes no more than a part of the time from everybody else. What changes again while it waits is looked at once.
 */
export interface Looks<Item extends Lookable> {
  add(items: Iterable<Item>): void
  close(): void
}

/** How long looks follow each other without a break. */
const SLICE_MS = 1
/** At least; after a look that took longer, as long as it took. */
const BREAK_MS = 10

export function createLooks<Item extends Lookable>(): Looks<Item> {
  const waiting = new Set<Item>()
  let timer: NodeJS.Timeout | undefined

  function work(): void {
    timer = undefined
    const startMs = performance.now()
    for (const item of waiting) {
      waiting.delete(item)
      item.look()
      if (performance.now() - startMs >= SLICE_MS) break
    }
    if (waiting.size > 0) timer = setTimeout(work, Math.max(BREAK_MS, performance.now() - startMs))
  }

  return {
    add(items) {
      for (const item of items) waiting.add(item)
      if (timer === undefined) work()
    },
    close() {
      waiting.clear()
      clearTimeout(timer)
    },
  }
}
