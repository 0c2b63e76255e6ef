import { createClient } from 'redis'
import type { ChainSlug } from '@bezel/protocol'
import { createPublisher } from '../ground/publisher.ts'
import { redisTlsOf, type TrustedPlace } from '../settings/dataConnections.ts'
import type { RedisScripts } from './redisScripts.ts'

/** Pause between two pings of the connection that listens, and the silence after which it is made anew. */
const PING_MS = 5_000
const SILENCE_MS = 15_000

/**
 * Tells the nodes of a deployment that a chain has a new commit. A wake-up carries the name of the chain and nothing
 * else, and may be lost, doubled or late: whoever listens reads what is new from the store, and looks there by itself
 * from time to time.
 */
export interface Wakeups {
  publish(chain: ChainSlug): void
  /** Calls `listener` at each wake-up, those of this node included. Returns what ends that. */
  onWake(listener: (chain: string) => void): () => void
  close(): void
}

/** Wake-ups of a deployment without Redis: none. */
export const NO_WAKEUPS: Wakeups = {
  publish: () => undefined,
  onWake: () => () => undefined,
  close: () => undefined,
}

/**
 * Opens wake-ups by publish and subscribe. The connection that listens is one of its own and comes back by itself;
 * nothing waits for it.
 */
export function openWakeups(place: TrustedPlace, { link, prefix }: Pick<RedisScripts, 'link' | 'prefix'>): Wakeups {
  const channel = `${prefix}wake`
  const wakes = createPublisher<string>()
  const listening = createClient({
    url: place.url,
    RESP: 2,
    name: 'bezel',
    disableClientInfo: true,
    maintNotifications: 'disabled',
    pingInterval: PING_MS,
    socket: { ...redisTlsOf(place), socketTimeout: SILENCE_MS },
  })
  listening.on('error', () => undefined)
  listening
    .connect()
    .then(() => listening.subscribe(channel, wakes.publish))
    .catch(() => undefined)
  return {
    publish(chain) {
      if (link.run() !== undefined) link.send('PUBLISH', channel, chain).catch(() => undefined)
    },
    onWake: wakes.subscribe,
    close: () => {
      if (listening.isOpen) listening.destroy()
    },
  }
}
