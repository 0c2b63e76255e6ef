import type { StreamSubscription } from './reader.ts'

const DONE = { done: true, value: undefined } as const

/**
 * Creates a subscription over a generator. `outer` ends it with the reason of that signal as its error, `close` without
 * an error; the signal that `follow` gets is aborted in both cases.
 */
export function createSubscription<Event>(
  outer: AbortSignal | undefined,
  follow: (signal: AbortSignal) => AsyncGenerator<Event, undefined, undefined>,
): StreamSubscription<Event> {
  const stopping = new AbortController()
  const onAbort = (): void => stopping.abort(outer!.reason)
  if (outer?.aborted === true) onAbort()
  else outer?.addEventListener('abort', onAbort, { once: true })
  const events = follow(stopping.signal)
  let isClosed = false

  function close(): void {
    isClosed = true
    outer?.removeEventListener('abort', onAbort)
    stopping.abort()
  }

  /** Returns the next event. After `close` the loop ends without an error. */
  async function next(): Promise<IteratorResult<Event, undefined>> {
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

  const subscription: StreamSubscription<Event> = {
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

/** Waits. Rejects with the reason of the signal as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
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

/** Returns the result of a promise. Rejects with the reason of the signal as soon as it is aborted. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
