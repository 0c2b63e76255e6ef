import type { StreamSubscription } from '@bezel/sdk'

/** Pauses before a subscription that failed is opened again. */
const RETRY_MS = 3_000

/**
 * Reads a subscription until `signal` is aborted, and opens it anew after an error. `onError` is told each error, and
 * null once events come again.
 */
export async function follow<Event>(
  open: () => StreamSubscription<Event>,
  onEvent: (event: Event) => void,
  { signal, onError = () => undefined }: { readonly signal: AbortSignal; readonly onError?: (error: unknown) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const subscription = open()
      const close = (): void => subscription.close()
      signal.addEventListener('abort', close, { once: true })
      for await (const event of subscription) {
        onError(null)
        onEvent(event)
      }
      signal.removeEventListener('abort', close)
    } catch (error) {
      onError(error)
    }
    if (!signal.aborted) await waitMs(RETRY_MS, signal)
  }
}

/** Waits, at most until the signal is aborted. */
export async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const wake = (): void => resolve()
  signal.addEventListener('abort', wake, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
}
