import { LOG_CHANNELS, type AccountEvent } from '@bezel/protocol/wire'
import type { EventPage } from '../account/createAccount.ts'
import { createBackOff, type BackOffOptions } from './backOff.ts'
import type { Stream } from './createStream.ts'
import type { StreamSubscription } from './reader.ts'
import { isPassing, streamError } from './streamError.ts'
import type { LogEvent } from './streamEvents.ts'

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

interface CreateEventsOptions extends EventsOptions {
  readonly readPage: (after: number, limit: number) => Promise<EventPage>
  readonly stream: Pick<Stream, 'orders' | 'fills' | 'positions' | 'account'>
  readonly backOff: BackOffOptions
}

/** Largest page that the service returns. */
const PAGE_LIMIT = 500

const DONE = { done: true, value: undefined } as const

/**
 * Creates the account's log over all four channels in the order of `seq`, without a gap or a repeat: first from pages,
 * then live.
 */
export function createEvents(options: CreateEventsOptions): StreamSubscription<AccountEvent> {
  const stopping = new AbortController()
  const outer = options.signal
  const onAbort = (): void => stopping.abort(outer!.reason)
  if (outer?.aborted === true) onAbort()
  else outer?.addEventListener('abort', onAbort, { once: true })
  const events = follow(options, stopping.signal)
  let isClosed = false

  function close(): void {
    isClosed = true
    outer?.removeEventListener('abort', onAbort)
    stopping.abort()
  }

  /** Returns the next event. After `close` the loop ends without an error. */
  async function next(): Promise<IteratorResult<AccountEvent, undefined>> {
    if (isClosed) return DONE
    try {
      const result = await events.next()
      if (result.done === true) close()
      return result
    } catch (error) {
      if (isClosed) return DONE
      close()
      throw error
    }
  }

  const subscription: StreamSubscription<AccountEvent> = {
    next,
    async return() {
      close()
      return DONE
    },
    close,
    [Symbol.asyncIterator]: () => subscription,
  }
  return subscription
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    function onAbort(): void {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
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

/** Returns an event in the shape of REST. */
function entryOf({ seq, channel, timestamp, block, reverted, data }: LogEvent): AccountEvent {
  // A resumed channel sends no snapshot, so an event of orders or fills holds one order.
  return { seq, channel, timestamp, block, reverted, data } as AccountEvent
}
