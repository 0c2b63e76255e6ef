/** Polling that runs until it is closed. */
export interface Polling {
  /** Starts no further run. A run that is under way is not waited for. */
  close(): void
}

/**
 * Polls: runs `work`, waits for the milliseconds that it returned, counted from its end, and runs it again. The first
 * run is after `firstMs`, or at once without it. `work` must not throw.
 */
export function poll(work: () => Promise<number>, firstMs?: number): Polling {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    const pauseMs = await work()
    if (!isClosed) timer = setTimeout(run, pauseMs)
  }

  if (firstMs === undefined) void run()
  else timer = setTimeout(run, firstMs)
  return {
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
