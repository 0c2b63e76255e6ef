const PRELOADED = new URL('./shiftClock.ts', import.meta.url)

/**
 * Returns the environment of a program whose clock is ahead by `aheadMs` from its start on, and by `stepMs` more from a
 * SIGURG to the next one.
 */
export function shiftedClock({
  aheadMs = 0,
  stepMs = 0,
}: {
  aheadMs?: number
  stepMs?: number
}): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${PRELOADED.href}`,
    CLOCK_AHEAD_MS: String(aheadMs),
    CLOCK_STEP_MS: String(stepMs),
  }
}
