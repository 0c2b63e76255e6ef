import type { Notification, NotificationList } from '@bezel/protocol/wire'
import type { Transport } from '../http/createTransport.ts'
import type { StreamSubscription } from '../stream/reader.ts'
import { isPassing } from '../stream/streamError.ts'
import { createSubscription, pause, unlessAborted } from '../stream/subscription.ts'

/** Options of `notifications.stream`. */
export interface NotificationStreamOptions {
  /**
   * `id` of the last notification you have; later ones follow. Default 0, so the active ones come first; `latest`
   * begins with those from now on.
   */
  readonly after?: number | 'latest'
  /** Pause between two looks at the list. Default 5,000 ms. */
  readonly pollMs?: number
  /** Ends the loop with the reason of the signal as its error. */
  readonly signal?: AbortSignal
}

/** Notifications to the trader's wallet, of all chains of the service. */
export interface Notifications {
  /** Lists the active notifications, newest first, at most 200. */
  list(): Promise<Notification[]>
  /** Dismisses a notification, so that it is not shown again. Needs an agent or a read-only key of the trader. */
  dismiss(id: number): Promise<void>
  /**
   * Reads each notification once, oldest first, as it comes. The service has no channel for them, so the list is read
   * again and again; outages of the service are waited out.
   */
  stream(options?: NotificationStreamOptions): StreamSubscription<Notification>
}

const DEFAULT_POLL_MS = 5_000

/**
 * Number of ids that a stream remembers, so that a notification which goes and comes back, as after a reorganisation,
 * is told once. Far more than the 200 of a list.
 */
const MAX_SEEN = 2_000

/** Creates the notifications part of a client. */
export function createNotifications(transport: Transport, traderOf: () => string): Notifications {
  const path = (): string => `/api/notifications/${traderOf()}`
  async function list(): Promise<Notification[]> {
    const call = { operationId: 'listNotifications', method: 'GET', path: path(), auth: 'none', retry: 'read' } as const
    return (await transport.call<NotificationList>(call)).notifications
  }
  return {
    list,
    async dismiss(notificationId) {
      await transport.call({
        operationId: 'dismissNotification',
        method: 'POST',
        path: `${path()}/dismiss`,
        body: { notificationId },
        auth: 'read',
        // Dismissed twice is dismissed once.
        retry: 'idempotent',
      })
    },
    stream: (options = {}) => createSubscription(options.signal, (signal) => follow(list, options, signal)),
  }
}

async function* follow(
  list: () => Promise<Notification[]>,
  { after = 0, pollMs = DEFAULT_POLL_MS }: NotificationStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Notification, undefined, undefined> {
  const seen = new Set<number>()
  for (let isFirst = true; ; await pause(pollMs, signal)) {
    signal.throwIfAborted()
    const listed = await unlessAborted(list(), signal).catch((error: unknown) => {
      if (signal.aborted || !isPassing(error)) throw error
      return undefined
    })
    if (listed === undefined) continue
    const isOld = ({ id }: Notification): boolean => isFirst && (after === 'latest' || id <= after)
    for (const notification of listed.toSorted((a, b) => a.id - b.id)) {
      if (seen.has(notification.id)) continue
      remember(seen, notification.id)
      if (!isOld(notification)) yield notification
    }
    isFirst = false
  }
}

function remember(seen: Set<number>, id: number): void {
  seen.add(id)
  const [oldest] = seen
  if (seen.size > MAX_SEEN && oldest !== undefined) seen.delete(oldest)
}
