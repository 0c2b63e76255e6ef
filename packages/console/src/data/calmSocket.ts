import type { WebSocketClass, WebSocketLike } from '@bezel/sdk'

/** A native WebSocket, as far as it is used here. */
export interface NativeSocket extends WebSocketLike {
  readonly readyState: number
  addEventListener(type: 'message' | 'close' | 'error' | 'open', listener: (event: never) => void): void
}

const CONNECTING = 0

/**
 * Returns a WebSocket class that closes quietly: a browser reports a socket that is closed before it was open as an
 * error of the page, so such a socket is closed as soon as it is open.
 */
export function calmSocketClass(Native: new (url: string) => NativeSocket): WebSocketClass {
  return class CalmSocket implements WebSocketLike {
    readonly #socket: NativeSocket

    constructor(url: string) {
      this.#socket = new Native(url)
    }

    send(text: string): void {
      this.#socket.send(text)
    }

    close(code?: number): void {
      if (this.#socket.readyState !== CONNECTING) return this.#socket.close(code)
      this.#socket.addEventListener('open', () => this.#socket.close(code))
    }

    addEventListener(type: 'message' | 'close' | 'error', listener: (event: never) => void): void {
      this.#socket.addEventListener(type, listener)
    }
  }
}

/** Returns the settings that all streams of the page share. */
export function streamSettings(): { readonly WebSocket?: WebSocketClass; readonly maxDelayMs: number } {
  const { WebSocket } = globalThis as { readonly WebSocket?: new (url: string) => NativeSocket }
  const calm = WebSocket === undefined ? {} : { WebSocket: calmSocketClass(WebSocket) }
  return { ...calm, maxDelayMs: MAX_DELAY_MS }
}

/** Longest pause before the next attempt. Somebody is looking at the page, so it is shorter than that of a program. */
const MAX_DELAY_MS = 5_000
