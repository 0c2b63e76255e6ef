/** What the stream needs of a WebSocket: that of browsers and node has it, and that of the package `ws`. */
export interface WebSocketLike {
  send(text: string): void
  close(code?: number): void
  /** Only that of `ws` has it: ends the connection without a closing handshake. */
  terminate?(): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void
  addEventListener(type: 'error', listener: (event: unknown) => void): void
}

/** A class of WebSockets. */
export type WebSocketClass = new (url: string) => WebSocketLike

/** The one of this browser or node; `undefined` before node 22. */
export function globalWebSocket(): WebSocketClass | undefined {
  return (globalThis as { readonly WebSocket?: WebSocketClass }).WebSocket
}
