import { notReady } from '../../ground/notReady.ts'
import type { Lookable } from '../../ground/looks.ts'
import type { ChannelCounts } from '../../stream/streamCounts.ts'
import { createTopic, type Topic } from '../../stream/topics/topic.ts'

/** A value as a message. */
export interface Telling {
  /** What makes it another one. When it was made does not. */
  readonly key: string
  readonly text: string
}

/** A value that many listen to: made once for all of them, and told whole when it is another one. */
export interface LiveValue extends Lookable {
  readonly topic: Topic
}

/** `read`: `undefined` while there is none. */
export function openLiveValue(read: () => Telling | undefined, counts: ChannelCounts): LiveValue {
  let told = read()
  const topic = createTopic({
    counts,
    snapshot() {
      if (told === undefined) throw notReady('starting')
      return told.text
    },
  })
  return {
    topic,
    look() {
      const now = topic.isWanted() ? read() : undefined
      if (now === undefined || now.key === told?.key) return
      told = now
      topic.publish(now.text)
    },
  }
}
