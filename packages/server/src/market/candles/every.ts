/** Does something again and again. Returns what ends it. */
export type Every = (intervalMs: number, work: () => void) => () => void

/** By the clock of the process, which it does not keep alive. */
export const everyInterval: Every = (intervalMs, work) => {
  const timer = setInterval(work, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}
