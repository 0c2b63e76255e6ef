/** A leaky bucket: work leaves it in the order in which it came, each a pause after the one before. */
export interface LeakyBucket {
  /** Resolves when the turn has come; `undefined` when the bucket is full. */
  take(): Promise<void> | undefined
  /** True when a turn would come at once. */
  isFree(): boolean
  /** Gives no further turns. */
  close(): void
}

/** `size` is the number of those that may wait. A pause of 0 ms gives every turn at once. */
export function createLeakyBucket({ pauseMs, size }: { pauseMs: number; size: number }): LeakyBucket {
  const waiting: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function pause(): void {
    if (pauseMs > 0) timer = setTimeout(leak, pauseMs).unref()
  }

  function leak(): void {
    timer = undefined
    const next = waiting.shift()
    if (next === undefined) return
    pause()
    next()
  }

  return {
    take() {
      if (isClosed || waiting.length >= size) return undefined
      if (timer !== undefined) return new Promise((next) => waiting.push(next))
      pause()
      return Promise.resolve()
    },
    isFree: () => !isClosed && timer === undefined,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
