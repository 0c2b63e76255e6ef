import { openSocket, type SocketOptions } from './socket.ts'
import type { ServerMessage } from './streamMessages.ts'
import { openTalk, type Talk, type TalkOptions } from './talk.ts'

/** One attempt to talk with the service, to its end. */
export interface Connection {
  /** From the greeting on. */
  readonly talk: Talk | undefined
  close(): void
}

export interface ConnectionOptions
  extends Pick<SocketOptions, 'url' | 'WebSocket' | 'connectTimeoutMs'>, Omit<TalkOptions, 'send'> {
  /** Instead of what the service says. */
  readonly heartbeatMs: number | undefined
  readonly onGreeted: (talk: Talk) => void
  /** Called once, unless it was closed by us. */
  readonly onBroken: (reason: string, isGreeted: boolean) => void
}

/** Until the service has said its own. */
const HEARTBEAT_MS = 15_000
/** The service pings each time its heartbeat is over: that it is a little late says nothing. */
const SILENT_HEARTBEATS = 1.25

export function openConnection(options: ConnectionOptions): Connection {
  let heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
  let talk: Talk | undefined

  function hear(message: ServerMessage): void {
    if (message.op === undefined) return talk?.receive(message)
    if (message.op !== 'hello') return talk?.hear(message)
    heartbeatMs = options.heartbeatMs ?? message.heartbeatMs
    talk = openTalk({ ...options, send: socket.send })
    options.onGreeted(talk)
  }

  const socket = openSocket({
    url: options.url,
    WebSocket: options.WebSocket,
    connectTimeoutMs: options.connectTimeoutMs,
    silenceMs: () => heartbeatMs * SILENT_HEARTBEATS,
    onMessage: (message) => hear(message as ServerMessage),
    onClose(reason) {
      talk?.close()
      options.onBroken(talk?.complaint ?? reason, talk !== undefined)
    },
  })
  return {
    get talk() {
      return talk
    },
    close() {
      talk?.close()
      socket.close()
    },
  }
}
