import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_MS } from '@bezel/protocol'
import { startRounds } from '../ground/rounds.ts'
import { forgetEventsBefore, listLogsBefore } from '../store/accountEventStore.ts'
import type { Store } from '../store/sql.ts'

/** Between two rounds. */
const ROUND_MS = 3_600_000

/** In one transaction, so that nobody waits for it for long. */
const MAX_EVENTS_AT_ONCE = 500

/** Forgets events that are older than the setting, now and then, until it is ended by what it returns. 0 days is for ever. */
export function forgetOldEvents(of: {
  readonly store: Store
  readonly keepDays: number
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly roundMs?: number
}): () => Promise<void> {
  if (of.keepDays === 0) return async () => {}
  const round = (): Promise<void> => forgetBefore(of.store, of.now() - of.keepDays * DAY_MS)
  const rounds = startRounds({ everyMs: of.roundMs ?? ROUND_MS, isAtOnce: true, round, onError: of.onError })
  return () => rounds.close()
}

/** One log after the other, each in short transactions with room for others between them. */
async function forgetBefore(store: Store, beforeMs: number): Promise<void> {
  for (const id of await listLogsBefore(store.read, beforeMs)) {
    let forgotten = MAX_EVENTS_AT_ONCE
    while (forgotten === MAX_EVENTS_AT_ONCE) {
      forgotten = await store.transaction((sql) => forgetEventsBefore(sql, id, beforeMs, MAX_EVENTS_AT_ONCE))
      await nextTurn()
    }
  }
}
