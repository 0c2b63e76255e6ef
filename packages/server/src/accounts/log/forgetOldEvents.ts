import { DAY_MS } from '@bezel/protocol'
import { forgetEventsBefore } from '../../store/accountEventStore.ts'
import type { Store } from '../../store/sql.ts'

/** Between two rounds. */
const ROUND_MS = 3_600_000

/** Of each log in one round, so that a round holds up no writer for long. */
const MAX_EVENTS_PER_LOG = 2_000

/** Forgets events that are older than the setting, now and then, until it is ended by what it returns. 0 days is for ever. */
export function forgetOldEvents(of: {
  readonly store: Store
  readonly keepDays: number
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly roundMs?: number
}): () => Promise<void> {
  if (of.keepDays === 0) return async () => {}
  let running: Promise<unknown> = Promise.resolve()
  const round = (): void => {
    const beforeMs = of.now() - of.keepDays * DAY_MS
    running = running
      .then(() => of.store.transaction((sql) => forgetEventsBefore(sql, beforeMs, MAX_EVENTS_PER_LOG)))
      .catch(of.onError)
  }
  round()
  const timer = setInterval(round, of.roundMs ?? ROUND_MS)
  return async () => {
    clearInterval(timer)
    await running
  }
}
