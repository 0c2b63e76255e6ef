/**
 * Coalesces requests to process items: an item that is added again while it waits is processed once. Items are
 * processed at once as long as that takes under 1 ms, and otherwise in slices with breaks, so that a client who
 * subscribes to everything takes only a part of the time from the others.
 */
export interface Coalescer<Item> {
  add(items: Iterable<Item>): void
  /** Forgets the items that wait. */
  close(): void
}

/** The longest time that items are processed without a break. */
const SLICE_MS = 1
/** The shortest break. After a slice that took longer the break is as long as the slice. */
const BREAK_MS = 10

/** `now` is a clock in milliseconds that never goes back. Default `performance.now`. */
export function createCoalescer<Item>(
  process: (item: Item) => void,
  now: () => number = () => performance.now(),
): Coalescer<Item> {
  const waiting = new Set<Item>()
  let timer: NodeJS.Timeout | undefined

  function runSlice(): void {
    timer = undefined
    const startMs = now()
    for (const item of waiting) {
      waiting.delete(item)
      process(item)
      if (now() - startMs >= SLICE_MS) break
    }
    if (waiting.size > 0) timer = setTimeout(runSlice, Math.max(BREAK_MS, now() - startMs))
  }

  return {
    add(items) {
      for (const item of items) waiting.add(item)
      if (timer === undefined) runSlice()
    },
    close() {
      waiting.clear()
      clearTimeout(timer)
    },
  }
}
