import { createBackOff } from './backOff.ts'
import { type Kept, topicKey } from './topic.ts'
import { connectionLost, isPassing } from './streamError.ts'
import { openStreamSocket, type SocketOptions } from './socket.ts'
import { type ServerMessage, openTalk, type Talk, type TalkOptions } from './talk.ts'

/** A connection to the service that is reopened whenever it breaks, and open only while something is subscribed. */
export interface Line {
  /** Returns true when it can take a subscription of this key. */
  hasPlace(key: string): boolean
  add(kept: Kept): void
  remove(kept: Kept): void
  /** Ends a subscription at the service but keeps it here. */
  pause(kept: Kept): void
  /** Continues a paused subscription. */
  resume(kept: Kept): void
}

interface LineOptions extends Omit<ConnectionOptions, 'onGreeted' | 'onBroken' | 'onSubscribed'> {
  /** Called when the service did not greet. Rejects when no retry will help, for instance for an unknown chain. */
  readonly check: (() => Promise<unknown>) | undefined
  /** Failed attempts in a row that are allowed. */
  readonly maxAttempts: number
  readonly onStatus: (status: StreamStatus) => void
}

/** The status of a connection of the stream. */
export type StreamStatus =
  | { readonly state: 'connecting'; readonly attempt: number }
  /** The service has greeted; subscriptions follow by themselves. */
  | { readonly state: 'open' }
  /** The connection broke or could not be made, and is retried. */
  | { readonly state: 'waiting'; readonly reason: string; readonly retryInMs: number; readonly attempt: number }
  /** The connection was closed because nothing is subscribed any more. */
  | { readonly state: 'closed'; readonly reason: string }

/** The service's limit of subscriptions per socket. */
const MAX_SUBSCRIPTIONS = 200

/** Creates a line. It connects with the first subscription. */
export function createLine(options: LineOptions): Line {
  const backOff = createBackOff(options.backOff)
  const kepts = new Map<string, Kept>()
  const paused = new Set<Kept>()
  let connection: Connection | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function connect(): void {
    timer = undefined
    connection = openConnection({
      ...options,
      onSubscribed: () => backOff.reset(),
      onGreeted(talk) {
        options.onStatus({ state: 'open' })
        for (const kept of kepts.values()) if (!paused.has(kept)) talk.subscribe(kept)
      },
      onBroken: broken,
    })
    // Called last, here and below, because the listener may close everything.
    options.onStatus({ state: 'connecting', attempt: backOff.attempts + 1 })
  }

  function broken(reason: string, isGreeted: boolean): void {
    connection = undefined
    if (backOff.attempts + 1 >= options.maxAttempts) return failAll(connectionLost(options.url, reason))
    const retryInMs = backOff.nextMs()
    timer = setTimeout(connect, retryInMs)
    if (!isGreeted) options.check?.().catch(refuse)
    options.onStatus({ state: 'waiting', reason, retryInMs, attempt: backOff.attempts })
  }

  /**
   * Ends all subscriptions with the error that `check` found, because a browser does not tell why a connection was
   * refused.
   */
  function refuse(error: unknown): void {
    if (!isPassing(error) && timer !== undefined) failAll(error)
  }

  /** Ends all subscriptions with an error. Their readers then remove them. */
  function failAll(error: unknown): void {
    for (const kept of kepts.values()) kept.fail(error)
  }

  function hangUp(): void {
    connection?.close()
    connection = undefined
    clearTimeout(timer)
    timer = undefined
    backOff.reset()
    options.onStatus({ state: 'closed', reason: 'nobody listens any more' })
  }

  return {
    hasPlace: (key) => !kepts.has(key) && kepts.size < MAX_SUBSCRIPTIONS,
    add(kept) {
      if (connection === undefined && timer === undefined) connect()
      kepts.set(topicKey(kept.topic), kept)
      connection?.talk?.subscribe(kept)
    },
    remove(kept) {
      if (kepts.get(topicKey(kept.topic)) !== kept) return
      kepts.delete(topicKey(kept.topic))
      paused.delete(kept)
      connection?.talk?.unsubscribe(kept)
      if (kepts.size === 0) hangUp()
    },
    pause(kept) {
      paused.add(kept)
      connection?.talk?.unsubscribe(kept)
    },
    resume(kept) {
      if (paused.delete(kept)) connection?.talk?.subscribe(kept)
    },
  }
}

/** One attempt to connect, and the connection until its end. */
interface Connection {
  /** The conversation after the greeting. */
  readonly talk: Talk | undefined
  close(): void
}

interface ConnectionOptions
  extends Pick<SocketOptions, 'url' | 'WebSocket' | 'connectTimeoutMs'>, Omit<TalkOptions, 'send'> {
  /** Longest expected silence; overrides what the service announces. */
  readonly heartbeatMs: number | undefined
  readonly onGreeted: (talk: Talk) => void
  /** Called once when the connection ends, unless this side closed it. */
  readonly onBroken: (reason: string, isGreeted: boolean) => void
}

/** Heartbeat until the service has announced its own. */
const HEARTBEAT_MS = 15_000

/** Tolerated heartbeats of silence. The service pings once per heartbeat, and a slightly late ping means nothing. */
const SILENT_HEARTBEATS = 1.25

function openConnection(options: ConnectionOptions): Connection {
  let heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS
  let talk: Talk | undefined

  function hear(message: ServerMessage): void {
    if (message.op === undefined) return talk?.receive(message)
    if (message.op !== 'hello') return talk?.hear(message)
    heartbeatMs = options.heartbeatMs ?? message.heartbeatMs
    talk = openTalk({ ...options, send: socket.send })
    options.onGreeted(talk)
  }

  const socket = openStreamSocket({
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
