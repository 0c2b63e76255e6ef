import type { StreamStatus } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'

/** The freshness of what the page shows. */
export interface ConnectionState {
  readonly state: 'live' | 'connecting' | 'down'
  /** Time since which it is so, in epoch milliseconds of this machine. */
  readonly sinceMs: number
  /** Time of the last news, once they are old; null while they are fresh. */
  readonly staleSinceMs: number | null
  /** A sentence for people; null while all is well. */
  readonly message: string | null
}

/** Watches over the connections of the page. */
export interface ConnectionWatch {
  readonly connection: ReadonlySignal<ConnectionState>
  /** Takes the status of a connection. `name` tells the connections apart. */
  status(name: string, status: StreamStatus): void
  /** Notes that prices came. */
  heard(): void
  /** Looks at the clock: call it once a second. */
  look(): void
  /** Forgets connections whose name begins so, because they were closed on purpose. */
  forget(prefix: string): void
}

/** Silence of the prices after which they are called old. Some market of a chain always moves. */
const STALE_MS = 15_000

/** Creates a watch. `now` is the clock of this machine. */
export function createConnectionWatch(now: () => number = Date.now): ConnectionWatch {
  const statuses = new Map<string, StreamStatus>()
  const connection = signal<ConnectionState>({
    state: 'connecting',
    sinceMs: now(),
    staleSinceMs: null,
    message: null,
  })
  let heardMs: number | null = null
  let wasLive = false
  /** Time since which prices are expected: that of the connection, or of the last ones. */
  let expectedMs = now()

  function stateOf(all: readonly StreamStatus[]): ConnectionState['state'] {
    if (all.some(({ state }) => state === 'waiting')) return 'down'
    if (all.length > 0 && all.every(({ state }) => state === 'open')) return 'live'
    // An attempt after a failed one is still an outage.
    return wasLive && all.some((status) => status.state === 'connecting' && status.attempt > 1) ? 'down' : 'connecting'
  }

  function renew(): void {
    const before = connection.peek()
    const state = stateOf([...statuses.values()])
    if (state === 'live' && before.state !== 'live') expectedMs = now()
    wasLive ||= state === 'live'
    const isSilent = now() - Math.max(heardMs ?? 0, expectedMs) > STALE_MS
    const isStale = state === 'down' || (state === 'live' && isSilent)
    const staleSinceMs = isStale ? (heardMs ?? expectedMs) : null
    const message = messageOf(state, isStale)
    const isSame = before.state === state && before.staleSinceMs === staleSinceMs && before.message === message
    if (isSame) return
    connection.value = { state, sinceMs: before.state === state ? before.sinceMs : now(), staleSinceMs, message }
  }

  return {
    connection,
    status(name, status) {
      if (status.state === 'closed') statuses.delete(name)
      else statuses.set(name, status)
      renew()
    },
    heard() {
      heardMs = now()
      if (connection.peek().staleSinceMs !== null) renew()
    },
    look: renew,
    forget(prefix) {
      for (const name of statuses.keys()) if (name.startsWith(prefix)) statuses.delete(name)
      renew()
    },
  }
}

function messageOf(state: ConnectionState['state'], isStale: boolean): string | null {
  if (state === 'down') {
    return 'The service does not answer. What you see is from before; the page connects again by itself.'
  }
  if (!isStale) return null
  return 'No prices come in: the price feed of the service is silent. Prices are old until it speaks again.'
}
