/** What a channel tells, for `for await`. Leaving the loop ends the subscription. */
export interface StreamSubscription<Event> {
  next(): Promise<IteratorResult<Event, undefined>>
  return(): Promise<IteratorResult<Event, undefined>>
  [Symbol.asyncIterator](): StreamSubscription<Event>
  /** Ends the subscription and every loop over it, without an error. */
  close(): void
}

/** The inner side of a subscription. */
export interface Reader<Event> {
  readonly subscription: StreamSubscription<Event>
  /** Something may be there to take. */
  wake(): void
  /** What is there can still be taken; then comes the error. */
  fail(error: unknown): void
  close(): void
}

export interface ReaderOptions<Event> {
  /** The next event that is there, once; `undefined` when none is. */
  readonly take: () => Event | undefined
  /** Called once, when nobody reads any more. */
  readonly onEnd: () => void
  /** Ends the subscription with the signal's reason as error. */
  readonly signal?: AbortSignal | undefined
}

interface Waiting<Event> {
  readonly resolve: (result: IteratorResult<Event, undefined>) => void
  readonly reject: (error: unknown) => void
}

const DONE = { done: true, value: undefined } as const

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

  /** Told once; whoever goes on asking hears that it is over. */
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
