/** A subscription to read with `for await`. Leaving the loop ends it. */
export interface StreamSubscription<Event> {
  /** Returns the next event, as soon as there is one. */
  next(): Promise<IteratorResult<Event, undefined>>
  /** Ends the subscription; a loop that is left calls it. */
  return(): Promise<IteratorResult<Event, undefined>>
  [Symbol.asyncIterator](): StreamSubscription<Event>
  /** Ends the subscription and every loop over it, without an error. */
  close(): void
}

/** A subscription from the inside. */
export interface Reader<Event> {
  readonly subscription: StreamSubscription<Event>
  /** Tells the reader that something may be there to take. */
  wake(): void
  /** Ends the subscription with an error, after the events that are already there. */
  fail(error: unknown): void
  close(): void
}

interface ReaderOptions<Event> {
  /** Takes the next waiting event; `undefined` when there is none. */
  readonly take: () => Event | undefined
  /** Called once, when nobody reads any more. */
  readonly onEnd: () => void
  /** Ends the subscription with the reason of the signal as its error. */
  readonly signal?: AbortSignal | undefined
}

interface Waiting<Event> {
  readonly resolve: (result: IteratorResult<Event, undefined>) => void
  readonly reject: (error: unknown) => void
}

const DONE = { done: true, value: undefined } as const

/** Creates a reader over `take`. */
export function createReader<Event>({ take, onEnd, signal }: ReaderOptions<Event>): Reader<Event> {
  const waiting: Waiting<Event>[] = []
  let isOver = false
  let failure: { readonly error: unknown } | undefined

  function wake(): void {
    while (waiting.length > 0) {
      const value = isOver ? undefined : take()
      if (value !== undefined) waiting.shift()!.resolve({ done: false, value })
      else if (failure !== undefined) tellFailure(failure.error)
      else if (isOver) waiting.shift()!.resolve(DONE)
      else return
    }
  }

  /** Reports the failure to one caller; later callers get the end. */
  function tellFailure(error: unknown): void {
    isOver = true
    failure = undefined
    waiting.shift()!.reject(error)
  }

  function stop(error?: { readonly error: unknown }): boolean {
    if (isOver || failure !== undefined) return false
    failure = error
    signal?.removeEventListener('abort', onAbort)
    onEnd()
    return true
  }

  function fail(error: unknown): void {
    if (stop({ error })) wake()
  }

  function onAbort(): void {
    if (!stop({ error: signal!.reason })) return
    isOver = true
    wake()
  }

  function close(): void {
    stop()
    isOver = true
    failure = undefined
    wake()
  }

  const subscription: StreamSubscription<Event> = {
    next: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        wake()
      }),
    async return() {
      close()
      return DONE
    },
    close,
    [Symbol.asyncIterator]: () => subscription,
  }
  if (signal?.aborted === true) queueMicrotask(onAbort)
  else signal?.addEventListener('abort', onAbort, { once: true })
  return { subscription, wake, fail, close }
}
