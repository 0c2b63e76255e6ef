import type { ApiError, ChainSlug } from '@bezel/protocol'
import type { Caller } from '../access/caller.ts'

/** What a channel may do with a socket. */
export interface Connection {
  readonly chain: ChainSlug
  /** Who is at the other end, once it said so and that was proven. */
  caller: Caller | undefined
  /** Whether anything still reaches the other end. */
  readonly isOpen: boolean
  /**
   * Control and log messages: never dropped. When more than `maxQueuedLogBytes` (bounds.ts) waits to be read, the socket is told RATE_LIMITED and
   * closed with 4429.
   */
  send(text: string): void
  /**
   * A ready frame of a latest-value channel; false when the reader is too far behind (nothing was written): the channel then sends a
   * snapshot when it has caught up.
   */
  offer(frame: Buffer): boolean
  /** Called once, when all that waited is written; when little waits, as soon as this has returned. Never after the close. */
  onDrain(listener: () => void): void
  /** `{"op":"error","code":...,"message":...}`. The socket stays open. */
  refuse(error: ApiError): void
  /** The caller's credentials ended: refuses, closes all private subscriptions and forgets the caller, so that it has to prove itself again. */
  lapse(error: ApiError): void
  /** Whether so much waits to be read that `offer` would refuse: whoever sends a lot waits for `onDrain` then, and is not cut. */
  readonly isBehind: boolean
  /** As `send`, of a ready frame (`frames.ts`) that many sockets share. */
  sendFrame(frame: Buffer): void
  close(code: number, reason: string): void
}
