/** Work that is done at once, but not again before some time has passed. */
export interface Paced {
  ask(): void
  close(): void
}

export function createPaced(minMs: number, work: () => void): Paced {
  let doneAtMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    timer = undefined
    doneAtMs = performance.now()
    work()
  }

  return {
    ask() {
      if (timer !== undefined) return
      const waitMs = doneAtMs + minMs - performance.now()
      if (waitMs <= 0) run()
      else timer = setTimeout(run, waitMs).unref()
    },
    close: () => clearTimeout(timer),
  }
}
