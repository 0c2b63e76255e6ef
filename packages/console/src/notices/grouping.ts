import type { Notification } from '@bezel/sdk'

/** Notices that belong under one heading. */
export interface NoticeGroup {
  readonly heading: string
  readonly notices: readonly Notification[]
}

/** Kinds that ask the trader to do something. */
const ASKING: readonly Notification['type'][] = [
  'order_timed_out',
  'position_update_timed_out',
  'agent_expiring',
  'delegation_removed',
]

/** Returns true for a notice that asks for something to be done. */
function isAsking({ type, severity }: Pick<Notification, 'type' | 'severity'>): boolean {
  return severity === 'critical' || ASKING.includes(type)
}

/**
 * Groups notices for people: those that ask for something come first, the others by the day on which they happened,
 * newest first. `dayOf` names a day in the browser's locale and time zone.
 */
export function groupNotices(
  notices: readonly Notification[],
  nowMs: number,
  dayOf: (ms: number) => string,
): NoticeGroup[] {
  const newest = notices.toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  const groups = new Map<string, Notification[]>()
  const [today, yesterday] = [dayOf(nowMs), dayOf(nowMs - DAY_MS)]
  for (const notice of [...newest.filter(isAsking), ...newest.filter((one) => !isAsking(one))]) {
    const day = dayOf(notice.createdAt)
    const heading = isAsking(notice) ? 'To be done' : day === today ? 'Today' : day === yesterday ? 'Yesterday' : day
    groups.set(heading, [...(groups.get(heading) ?? []), notice])
  }
  return [...groups].map(([heading, members]) => ({ heading, notices: members }))
}

const DAY_MS = 86_400_000

/** Counts the notices after the last one that was seen. Ids grow, so one number is all that has to be remembered. */
export function unreadCount(notices: readonly Notification[], lastSeenId: number): number {
  return notices.filter(({ id }) => id > lastSeenId).length
}

/** Returns the highest id of notices and of a number that was remembered. */
export function highestId(notices: readonly Notification[], atLeast: number): number {
  return notices.reduce((highest, { id }) => Math.max(highest, id), atLeast)
}

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

/** Chain that a notice's link names: `/v1/base/orders/12` is of `base`; null when it names none. */
const CHAIN_OF_LINK = /^\/v1\/([a-z0-9-]+)\//

/** Returns the page of the console that shows what a notice is about; null when there is none. */
export function pageOfNotice({ type, orderId, positionId, link }: Notification): string | null {
  const chain = link === null ? undefined : CHAIN_OF_LINK.exec(link)?.[1]
  const query = new URLSearchParams(chain === undefined ? {} : { chain })
  if (orderId !== null) query.set('order', orderId)
  const text = query.size === 0 ? '' : `?${query}`
  if (orderId !== null || positionId !== null) return `/portfolio${text}`
  if (type.startsWith('agent_') || type.startsWith('delegation_') || type === 'key_issued') return `/agents${text}`
  return type.startsWith('chain_') ? `/system${text}` : null
}
