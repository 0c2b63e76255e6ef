import { LOG_CHANNELS, type AccountEvent, type EventPage, type LogChannel } from '@bezel/protocol/wire'
import { createBackOff, type BackOffOptions } from './backOff.ts'
import type { ResumeOptions } from './createStream.ts'
import type { StreamSubscription } from './reader.ts'
import { isPassing, streamError } from './streamError.ts'
import type { LogChange } from './streamEvents.ts'
import { createSubscription, pause, unlessAborted } from './subscription.ts'

/** Options of `client.events`. */
export interface EventsOptions {
  /**
   * Number of the last event you have; later events follow. Default 0, the whole log; `latest` begins with what happens
   * from now on.
   */
  readonly after?: number | 'latest'
  /** Ends the loop with the reason of the signal as its error. */
  readonly signal?: AbortSignal
}

/** The private channels of a stream, from a number on. */
type ResumedChannels = Readonly<Record<LogChannel, (options: ResumeOptions) => StreamSubscription<LogChange>>>

interface CreateEventsOptions extends EventsOptions {
  readonly readPage: (after: number, limit: number) => Promise<EventPage>
  readonly stream: ResumedChannels
  readonly backOff: BackOffOptions
}

/** Largest page that the service returns. */
const PAGE_LIMIT = 500

/**
 * Creates the account's log over all four channels in the order of `seq`, without a gap or a repeat: first from pages,
 * then live.
 */
export function createEvents(options: CreateEventsOptions): StreamSubscription<AccountEvent> {
  return createSubscription(options.signal, (signal) => follow(options, signal))
}

async function* follow(
  options: CreateEventsOptions,
  signal: AbortSignal,
): AsyncGenerator<AccountEvent, undefined, undefined> {
  const { after = 0 } = options
  let place = after === 'latest' ? (await readPage(options, Number.MAX_SAFE_INTEGER, 1, signal)).lastSeq : after
  for (let isMore = after !== 'latest'; isMore;) {
    const { data, lastSeq } = await readPage(options, place, PAGE_LIMIT, signal)
    for (const event of data) {
      if (event.seq !== place + 1) throw forgotten(place)
      place = event.seq
      yield event
    }
    if (data.length === 0 && lastSeq > place) throw forgotten(place)
    isMore = lastSeq > place
  }
  yield* mergeLog(options.stream, place, signal)
  return undefined
}

/** Reads a page and waits out a service that restarts. */
async function readPage(
  { readPage: read, backOff: waits }: CreateEventsOptions,
  after: number,
  limit: number,
  signal: AbortSignal,
): Promise<EventPage> {
  const backOff = createBackOff(waits)
  for (;;) {
    signal.throwIfAborted()
    try {
      return await unlessAborted(read(after, limit), signal)
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error
      await pause(backOff.nextMs(), signal)
    }
  }
}

function forgotten(place: number): Error {
  const message = `The event after ${place} is no longer kept: read the account anew.`
  return streamError({ code: 'VALIDATION_ERROR', message })
}

/**
 * Yields all events after `place` in the order of `seq`, merged from the four channels, of which one can be ahead of
 * another. Their numbers together have no gap, so the next event is always first in one of them; events that are ahead
 * wait in their own channel, which is bounded.
 */
async function* mergeLog(
  stream: ResumedChannels,
  place: number,
  signal: AbortSignal,
): AsyncGenerator<AccountEvent, undefined, undefined> {
  const stop = new AbortController()
  const options = { fromSeq: place + 1, signal: AbortSignal.any([signal, stop.signal]) }
  const heads: (LogChange | undefined)[] = []
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

/** Returns an event in the shape of REST. */
function entryOf({ seq, channel, timestamp, block, reverted, data }: LogChange): AccountEvent {
  // Taken apart, the channel no longer says which data it has.
  return { seq, channel, timestamp, block, reverted, data } as AccountEvent
}
