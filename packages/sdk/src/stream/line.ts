import { createBackOff } from './backOff.ts'
import { openConnection, type Connection, type ConnectionOptions } from './connection.ts'
import type { Kept } from './kept.ts'
import { connectionLost, isPassing } from './streamError.ts'
import type { StreamStatus } from './streamStatus.ts'
import { topicKey } from './topic.ts'

/** One connection to the service, made again whenever it breaks, and only there while something is to be heard over it. */
export interface Line {
  /** Whether it can take one more subscription of this key. */
  hasPlace(key: string): boolean
  add(kept: Kept): void
  remove(kept: Kept): void
  /** Ends it at the service alone. */
  pause(kept: Kept): void
  /** Goes on with a paused one. */
  resume(kept: Kept): void
}

export interface LineOptions extends Omit<ConnectionOptions, 'onGreeted' | 'onBroken' | 'onSubscribed'> {
  /** Asked when the service did not even greet. Rejects when it can be asked and no retry will help, such as for an unknown chain. */
  readonly check: (() => Promise<unknown>) | undefined
  /** Attempts in a row that may fail. */
  readonly maxAttempts: number
  readonly onStatus: (status: StreamStatus) => void
}

/** Of one socket, by the service. */
const MAX_SUBSCRIPTIONS = 200

export function createLine(options: LineOptions): Line {
  const backOff = createBackOff(options.backOff)
  const kepts = new Map<string, Kept>()
  const paused = new Set<Kept>()
  let connection: Connection | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function connect(): void {
    timer = undefined
    connection = openConnection({
      ...options,
      onSubscribed: () => backOff.reset(),
      onGreeted(talk) {
        options.onStatus({ state: 'open' })
        for (const kept of kepts.values()) if (!paused.has(kept)) talk.subscribe(kept)
      },
      onBroken: broken,
    })
    // Last, here and below: whoever is told may close everything at once.
    options.onStatus({ state: 'connecting', attempt: backOff.attempts + 1 })
  }

  function broken(reason: string, isGreeted: boolean): void {
    connection = undefined
    if (backOff.attempts + 1 >= options.maxAttempts) return failAll(connectionLost(options.url, reason))
    const retryInMs = backOff.nextMs()
    timer = setTimeout(connect, retryInMs)
    if (!isGreeted) options.check?.().catch(refuse)
    options.onStatus({ state: 'waiting', reason, retryInMs, attempt: backOff.attempts })
  }

  /** A browser does not say why a connection was refused, so it was asked for in another way. */
  function refuse(error: unknown): void {
    if (!isPassing(error) && timer !== undefined) failAll(error)
  }

  /** Each of them is then removed by whoever reads it. */
  function failAll(error: unknown): void {
    for (const kept of kepts.values()) kept.fail(error)
  }

  function hangUp(): void {
    connection?.close()
    connection = undefined
    clearTimeout(timer)
    timer = undefined
    backOff.reset()
    options.onStatus({ state: 'closed', reason: 'nobody listens any more' })
  }

  return {
    hasPlace: (key) => !kepts.has(key) && kepts.size < MAX_SUBSCRIPTIONS,
    add(kept) {
      if (connection === undefined && timer === undefined) connect()
      kepts.set(topicKey(kept.topic), kept)
      connection?.talk?.subscribe(kept)
    },
    remove(kept) {
      if (kepts.get(topicKey(kept.topic)) !== kept) return
      kepts.delete(topicKey(kept.topic))
      paused.delete(kept)
      connection?.talk?.unsubscribe(kept)
      if (kepts.size === 0) hangUp()
    },
    pause(kept) {
      paused.add(kept)
      connection?.talk?.unsubscribe(kept)
    },
    resume(kept) {
      if (paused.delete(kept)) connection?.talk?.subscribe(kept)
    },
  }
}
