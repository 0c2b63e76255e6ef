import type { Stream } from '@bezel/sdk'
import { effect, signal, type ReadonlySignal } from '@preact/signals'
import { streamSettings } from './calmSocket.ts'
import { publicClient } from './client.ts'
import { createConnectionWatch, type ConnectionState } from './connectionWatch.ts'
import { measureClock } from './now.ts'
import { apiBaseUrl } from './settings.ts'

/** An answer of `/ready`. */
export interface Readiness {
  readonly isReady: boolean
  /** The whole answer, for the System view; null when there was none. */
  readonly body: unknown
  readonly askedAtMs: number
}

/** The watch over all connections of the page. */
export const connectionWatch = createConnectionWatch()

/** The state of the live connection. */
export const connection: ReadonlySignal<ConnectionState> = connectionWatch.connection

const lastReady = signal<Readiness | null>(null)

/**
 * The last answer of `/ready`; null before it was asked. It is asked while the connection is down, and by `askReady`.
 */
export const ready: ReadonlySignal<Readiness | null> = lastReady

const stream = signal<Stream | null>(null)

/** The public stream of the active chain; null before the start. */
export const publicStream: ReadonlySignal<Stream | null> = stream

/** Asks `/ready` now. A service that does not answer is not ready. */
export async function askReady(): Promise<Readiness> {
  const body = await fetch(`${apiBaseUrl()}/ready`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) })
    .then((answer) => answer.json() as Promise<unknown>)
    .catch(() => null)
  const isReady = (body as { readonly ready?: unknown } | null)?.ready === true
  lastReady.value = { isReady, body, askedAtMs: Date.now() }
  return lastReady.value
}

const READY_TIMEOUT_MS = 5_000
const READY_POLL_MS = 5_000
const LOOK_MS = 1_000
const CLOCK_POLL_MS = 60_000

/** Starts the public stream, follows the active chain with it, and watches its freshness. Returns how to stop. */
export function startLive(): () => void {
  const stopStream = effect(() => {
    const opened = publicClient.value.stream({
      ...streamSettings(),
      onStatus: ({ socket, ...status }) => connectionWatch.status(`public ${socket}`, status),
    })
    stream.value = opened
    return () => {
      opened.close()
      connectionWatch.forget('public ')
    }
  })
  const stopReady = effect(() => {
    if (connection.value.state !== 'down') return
    void askReady()
    const timer = setInterval(() => void askReady(), READY_POLL_MS)
    return () => clearInterval(timer)
  })
  const measure = (): void => {
    if (connection.peek().state !== 'down') void measureClock(publicClient.peek()).catch(() => undefined)
  }
  const timers = [setInterval(connectionWatch.look, LOOK_MS), setInterval(measure, CLOCK_POLL_MS)]
  return () => {
    stopStream()
    stopReady()
    timers.forEach(clearInterval)
  }
}
