import type { Notification } from '@bezel/sdk'
import { highestId } from './grouping.ts'

/**
 * Chooses the notices that are told to the browser, oldest first, and the number to remember. `lastTold` is the highest
 * id that any tab has told, null before the first time: what is there then is old news.
 */
export function toAnnounce(
  notices: readonly Notification[],
  lastTold: number | null,
): { readonly told: readonly Notification[]; readonly lastTold: number } {
  const next = highestId(notices, lastTold ?? 0)
  if (lastTold === null) return { told: [], lastTold: next }
  const told = notices.filter(({ id }) => id > lastTold).toSorted((a, b) => a.id - b.id)
  return { told: told.slice(-MAX_AT_ONCE), lastTold: next }
}

/** Notices that are told at once at most, as after a night with the machine asleep. */
const MAX_AT_ONCE = 3
