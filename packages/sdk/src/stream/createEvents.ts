import type { AccountEvent } from '@bezel/protocol/wire'
import type { EventPage } from '../account/createAccount.ts'
import { createBackOff, type BackOffOptions } from './backOff.ts'
import type { Stream } from './createStream.ts'
import { mergeLog } from './mergeLog.ts'
import type { StreamSubscription } from './reader.ts'
import { isPassing, streamError } from './streamError.ts'

export interface EventsOptions {
  /** The last event that you have: what follows is told. Without it, the whole log; `latest` begins with what happens from now on. */
  readonly after?: number | 'latest'
  /** Ends the loop with the signal's reason as error. */
  readonly signal?: AbortSignal
}

export interface CreateEventsOptions extends EventsOptions {
  readonly readPage: (after: number, limit: number) => Promise<EventPage>
  readonly stream: Pick<Stream, 'orders' | 'fills' | 'positions' | 'account'>
  readonly backOff: BackOffOptions
}

/** The most that the service gives at once. */
const PAGE_LIMIT = 500

const DONE = { done: true, value: undefined } as const

/** The account's log over all its channels in the order of `seq`, without a hole or a double: first from pages, then live. */
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

  /** What was closed while it waited for the next event has none, and no error either. */
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

/** A service that restarts is waited for. */
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
  return streamError('VALIDATION_ERROR', `The event after ${place} is no longer kept: read the account anew.`)
}
