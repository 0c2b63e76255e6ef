/** Does something again and again. Returns what ends it. */
export type Every = (intervalMs: number, work: () => void | Promise<void>) => () => void

/** By the clock of the process, which it does not keep alive. */
export const everyInterval: Every = (intervalMs, work) => {
  const timer = setInterval(() => void work(), intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}
