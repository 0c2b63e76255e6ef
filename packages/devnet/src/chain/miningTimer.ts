export interface MiningTimer {
  start(): void
  stop(): void
}

/** Calls `mine` every `blockMs`, never twice at once; a block that takes longer puts the next one off. 0 never calls it. */
export function createMiningTimer(
  blockMs: number,
  mine: () => Promise<unknown>,
  report: (error: unknown) => void,
): MiningTimer {
  let timeout: NodeJS.Timeout | undefined
  let running = false
  let dueMs = 0

  function schedule(): void {
    const nowMs = performance.now()
    dueMs = Math.max(dueMs + blockMs, nowMs)
    timeout = setTimeout(tick, dueMs - nowMs)
  }

  function tick(): void {
    mine()
      .catch(report)
      .finally(() => {
        if (running) schedule()
      })
  }

  return {
    start() {
      if (running || blockMs === 0) return
      running = true
      dueMs = performance.now()
      schedule()
    },
    stop() {
      running = false
      clearTimeout(timeout)
    },
  }
}
