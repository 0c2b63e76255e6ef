import { createBackOff, type BackOffOptions } from './backOff.ts'

/** What is tried again on the same socket, later and later. */
export interface Retries {
  later(action: () => void): void
  /** Something worked. */
  reset(): void
  close(): void
}

export function createRetries(options: BackOffOptions): Retries {
  const backOff = createBackOff(options)
  const timers = new Set<ReturnType<typeof setTimeout>>()
  return {
    later(action) {
      const timer = setTimeout(() => {
        timers.delete(timer)
        action()
      }, backOff.nextMs())
      timers.add(timer)
    },
    reset: () => backOff.reset(),
    close: () => timers.forEach((timer) => clearTimeout(timer)),
  }
}
