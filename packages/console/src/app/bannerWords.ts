import { formatDuration } from '../ground/format.ts'

/** Difference of the clocks from which on it is mentioned. The service refuses signatures from 30 s on. */
const CLOCK_TOLERANCE_MS = 10_000

/** The connection, as `data/live.ts` describes it. */
interface ConnectionWords {
  readonly state: 'live' | 'connecting' | 'down'
  readonly sinceMs: number
  readonly staleSinceMs: number | null
  readonly message: string | null
}

/** Returns the sentences about a service that is away or data that is old. */
export function serviceWords({ state, message }: ConnectionWords): string {
  if (state === 'down') {
    const what = message ?? 'The service does not answer.'
    return `${what} The page reconnects by itself; what was sent goes on.`
  }
  const what = message ?? 'No new data comes in.'
  return `${what} Do not rely on prices before it is live again.`
}

/** Returns the age of what is shown. It ticks, so it stands apart from what screen readers read out. */
export function ageWords({ sinceMs, staleSinceMs }: ConnectionWords, nowMs: number): string {
  return `What you see is ${formatDuration(Math.max(0, nowMs - (staleSinceMs ?? sinceMs)))} old.`
}

/** Returns the sentence about a clock that is wrong; null for one that is right enough. */
export function clockWords(offMs: number): string | null {
  if (Math.abs(offMs) < CLOCK_TOLERANCE_MS) return null
  const side = offMs > 0 ? 'ahead of' : 'behind'
  return `The clock of this machine is ${formatDuration(Math.abs(offMs))} ${side} the service's. The page corrects it for what it signs; set the clock when you can.`
}
