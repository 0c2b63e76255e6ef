import type { Kept } from './kept.ts'
import { isLogChannel } from './logChannels.ts'
import type { StreamEvent } from './streamEvents.ts'
import { topicKey } from './topic.ts'

/** A subscription that was asked for on one socket. */
export interface AskedSubscription {
  readonly kept: Kept
  /** Events are ours only from here on: earlier ones are of a subscription that we ended. */
  isAnswered: boolean
}

/** The subscriptions of one socket. */
export interface Asked {
  add(kept: Kept): AskedSubscription
  /** Whether there was one. */
  remove(kept: Kept): boolean
  /** Whether it was not ended, or replaced, meanwhile. */
  isWanted(asked: AskedSubscription): boolean
  receive(event: StreamEvent): void
  failPrivate(error: unknown): void
}

export function createAsked(): Asked {
  const byKey = new Map<string, AskedSubscription>()
  return {
    add(kept) {
      const asked = { kept, isAnswered: false }
      byKey.set(topicKey(kept.topic), asked)
      return asked
    },
    remove(kept) {
      const key = topicKey(kept.topic)
      return byKey.get(key)?.kept === kept && byKey.delete(key)
    },
    isWanted: (asked) => byKey.get(topicKey(asked.kept.topic)) === asked,
    receive(event) {
      const asked = byKey.get(topicKey(event))
      if (asked?.isAnswered === true) asked.kept.receive(event)
    },
    failPrivate(error) {
      for (const { kept } of byKey.values()) if (isLogChannel(kept.topic.channel)) kept.fail(error)
    },
  }
}
