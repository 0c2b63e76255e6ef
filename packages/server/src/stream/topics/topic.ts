import { ApiError } from '@bezel/protocol'
import type { Subscription, Connection } from '../channel.ts'
import { textFrame } from '../socket/frames.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import type { RefCounted } from '../../ground/refCounted.ts'

/** A topic whose state has to be read before it can be sent. */
export interface LoadedTopic {
  readonly topic: Topic
  readonly loaded: Promise<unknown>
}

/** A topic of which only the latest value matters: a slow client gets fewer messages, but never a wrong state. */
export interface Topic {
  /** Creates a subscription. `onClose` is called when it ends. */
  subscribe(connection: TopicConnection, onClose?: () => void): Subscription
  /** Sends a change to every subscriber that has the state before it. */
  publish(text: string): void
  /** Returns true while there are subscribers. */
  isWanted(): boolean
}

/** The part of a connection that a topic writes to. */
type TopicConnection = Pick<Connection, 'offer' | 'onDrain'>

export interface TopicOptions {
  /**
   * Returns the whole current state as a message. May throw an `ApiError`; then it is called again at the next change.
   */
  readonly snapshot: () => string
  readonly counts: ChannelCounts
}

interface Listener {
  readonly connection: TopicConnection
  /** True when all bytes queued on its socket are written, but no snapshot was available. */
  isDrained: boolean
}

export function createTopic({ snapshot, counts }: TopicOptions): Topic {
  /** Subscribers that have every change so far; those in `behind` need a snapshot first. */
  const live = new Set<Listener>()
  const behind = new Set<Listener>()

  function fallBehind(listener: Listener): void {
    live.delete(listener)
    behind.add(listener)
    listener.isDrained = false
    listener.connection.onDrain(() => {
      if (behind.has(listener)) catchUp(listener)
    })
  }

  function catchUp(listener: Listener): void {
    if (sendSnapshot(listener)) counts.snapshots += 1
  }

  function sendSnapshot(listener: Listener): boolean {
    const text = snapshotNow()
    listener.isDrained = text === undefined
    if (text === undefined) return false
    if (!listener.connection.offer(textFrame(text))) {
      fallBehind(listener)
      return false
    }
    behind.delete(listener)
    live.add(listener)
    counts.sent += 1
    return true
  }

  function snapshotNow(): string | undefined {
    try {
      return snapshot()
    } catch (error) {
      if (error instanceof ApiError) return undefined
      throw error
    }
  }

  return {
    isWanted: () => live.size > 0 || behind.size > 0,
    subscribe(connection, onClose) {
      const listener: Listener = { connection, isDrained: false }
      return {
        start() {
          behind.add(listener)
          sendSnapshot(listener)
        },
        close() {
          live.delete(listener)
          behind.delete(listener)
          onClose?.()
        },
      }
    },
    publish(text) {
      const frame = textFrame(text)
      let sent = 0
      for (const listener of live) {
        if (listener.connection.offer(frame)) sent += 1
        else fallBehind(listener)
      }
      counts.sent += sent
      for (const listener of behind) if (listener.isDrained) catchUp(listener)
    },
  }
}

/** Subscribes once the state is loaded. Concurrent subscribers wait for the same read. */
export async function subscribeLoaded(
  topics: RefCounted<string, LoadedTopic>,
  key: string,
  connection: Connection,
): Promise<Subscription> {
  const { topic, loaded } = topics.hold(key)
  try {
    await loaded
  } catch (error) {
    topics.discard(key)
    throw error
  }
  return topic.subscribe(connection, () => topics.release(key))
}
