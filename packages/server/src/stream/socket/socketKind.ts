import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@bezel/protocol'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { Caller } from '../../access/caller.ts'
import type { StreamBounds } from '../bounds.ts'
import type { MessageLabel } from '../channel.ts'
import type { SocketConnection } from './socketConnection.ts'

/** The format of the messages that the service sends on its own, in one kind of sockets. */
export interface Dialect {
  /** `requestId` is the one of the request that opened the socket. */
  errorText(error: ApiError, requestId: string, about?: MessageLabel): string
  /** Returns a frame that asks the client for a sign of life. */
  pingFrame(nowMs: number): Buffer
}

/** A client whose upgrade was accepted. */
export interface Visit {
  readonly chain: ServedChain
  /** The caller when the upgrade carried credentials. */
  readonly caller: Caller | undefined
  /** The network of the client's IP, by `networkOf`. */
  readonly network: string
  /** Charges one more request to the client's IP. Rejects with `RATE_LIMITED` when none is left. */
  readonly charge: (weight?: number) => Promise<void>
  /** Converts anything thrown into the error that the client is sent. Internal errors are logged. */
  readonly toApiError: (error: unknown) => ApiError
}

/** The exchange of messages with one client. */
export interface Session {
  receive(bytes: Uint8Array): void
  /** Notifies a caller whose credentials became invalid, and ends its private subscriptions. Reads memory only. */
  checkCaller(): void
  /** Ends its private subscriptions. */
  lapse(): void
  /** Ends all its subscriptions. */
  close(): void
}

/** The sockets of one path: who may connect, and the messages that are exchanged. */
export interface SocketKind {
  /** Pattern of the URL; its first group is the chain. */
  readonly path: RegExp
  /** Name of an upgrade in metrics. */
  readonly operation: string
  readonly bounds: StreamBounds
  readonly dialect: Dialect
  readonly createRate: () => MessageRate
  /**
   * Returns the caller; `undefined` when the request carries no credentials, or none are needed. Rejects with an
   * `ApiError` when they are wrong.
   */
  readonly authenticateUpgrade: (chain: ServedChain, request: IncomingMessage) => Promise<Caller | undefined>
  /** Opens the session of a client, and greets it. */
  readonly openSession: (connection: SocketConnection, visit: Visit) => Session
}

const SECOND_MS = 1_000

/** Counts the messages of one client, in windows of a second that each start with a message. */
export interface MessageRate {
  /** Counts one more message. Returns true while it is within the limit. */
  isWithin(nowMs: number): boolean
}

export function createMessageRate(perSecond: number): MessageRate {
  let startMs = Number.NEGATIVE_INFINITY
  let count = 0
  return {
    isWithin(nowMs) {
      if (nowMs - startMs >= SECOND_MS) {
        startMs = nowMs
        count = 0
      }
      count += 1
      return count <= perSecond
    },
  }
}
