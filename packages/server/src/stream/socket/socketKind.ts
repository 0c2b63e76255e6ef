import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@bezel/protocol'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { Caller } from '../../access/caller.ts'
import type { StreamBounds } from '../bounds.ts'
import type { MessageRate } from './messageRate.ts'
import type { Session } from '../session/session.ts'
import type { SocketConnection } from './socketConnection.ts'

/** What the service says by itself, in the words of one kind of sockets. */
export interface Dialect {
  errorText(error: ApiError): string
  /** A frame that asks for a sign of life. */
  pingFrame(nowMs: number): Buffer
}

/** A client that came in. */
export interface Visit {
  readonly chain: ServedChain
  /** Known when the upgrade carried credentials. */
  readonly caller: Caller | undefined
  /** Of its IP (`networkOf`). */
  readonly network: string
  /** Counts one more request of its IP. Rejects with `RATE_LIMITED` when there are none left. */
  readonly charge: () => Promise<void>
  /** Turns whatever was thrown into what the client is told; what is our fault is logged. */
  readonly toApiError: (error: unknown) => ApiError
}

/** The sockets of one path: who may come in, and what is spoken there. */
export interface SocketKind {
  /** Its first group is the chain. */
  readonly path: RegExp
  /** What an upgrade is called in metrics. */
  readonly operation: string
  readonly bounds: StreamBounds
  readonly dialect: Dialect
  readonly createRate: () => MessageRate
  /** `undefined` when the request carries no credentials, or none are wanted. Rejects with an `ApiError` when they are wrong. */
  readonly authenticateUpgrade: (chain: ServedChain, request: IncomingMessage) => Promise<Caller | undefined>
  /** Begins the talk with a client, and greets it. */
  readonly openSession: (connection: SocketConnection, visit: Visit) => Session
}
