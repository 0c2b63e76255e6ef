import type { AccountEvent } from '@bezel/protocol/wire'
import type { Stream } from './createStream.ts'
import { LOG_CHANNELS } from './logChannels.ts'
import type { LogEvent } from './streamEvents.ts'

/**
 * All events after `place` in the order of `seq`, from the four channels, of which one can be ahead of another. Their numbers together have no
 * hole, so the next event is always first in one of them; what is ahead waits in its own channel, which is bounded.
 */
export async function* mergeLog(
  stream: Pick<Stream, (typeof LOG_CHANNELS)[number]>,
  place: number,
  signal: AbortSignal,
): AsyncGenerator<AccountEvent, undefined, undefined> {
  const stop = new AbortController()
  const options = { fromSeq: place + 1, signal: AbortSignal.any([signal, stop.signal]) }
  const heads: (LogEvent | undefined)[] = []
  let failure: { readonly error: unknown } | undefined
  let isOver = false
  let wake = (): void => undefined

  const channels = LOG_CHANNELS.map((channel, at) => {
    const subscription = stream[channel](options)
    return async function read(): Promise<void> {
      try {
        const { done, value } = await subscription.next()
        if (done === true) isOver = true
        else heads[at] = value
      } catch (error) {
        failure ??= { error }
      }
      wake()
    }
  })

  try {
    for (const read of channels) void read()
    for (let last = place; ;) {
      const at = heads.findIndex((head) => head?.seq === last + 1)
      if (at >= 0) {
        const event = heads[at]!
        heads[at] = undefined
        void channels[at]!()
        last = event.seq
        yield entryOf(event)
      } else if (failure !== undefined) throw failure.error
      else if (isOver) return undefined
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stop.abort()
  }
}

/** As REST has it. */
function entryOf({ seq, channel, timestamp, block, reverted, data }: LogEvent): AccountEvent {
  // A channel that resumes has no snapshot, so orders and fills have one order each.
  return { seq, channel, timestamp, block, reverted, data } as AccountEvent
}
