import { ApiError } from '@bezel/protocol'
import type { Subscription } from '../channel.ts'
import type { Connection } from '../connection.ts'
import { textFrame } from '../socket/frames.ts'
import type { ChannelCounts } from '../streamCounts.ts'

/** Where only the latest value matters: who reads slowly gets fewer messages, and never a wrong picture. */
export interface Topic {
  /** `onClose` is called once, when it ends. */
  subscribe(connection: Connection, onClose?: () => void): Subscription
  /** A change, to everybody who has the state before it. */
  publish(text: string): void
  /** Whether somebody listens. */
  isWanted(): boolean
}

export interface TopicOptions {
  /** The whole state now, as a message. May throw an `ApiError`: then it is asked again at the next change. */
  readonly snapshot: () => string
  readonly counts: ChannelCounts
}

interface Listener {
  readonly connection: Connection
  /** All that waited on its socket is written, but there was no snapshot to be had. */
  isDrained: boolean
}

export function createTopic({ snapshot, counts }: TopicOptions): Topic {
  /** Those that have every change so far, and those that need a snapshot first. */
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
