import { ApiError, CLOSE_CODES, type ClientMessage } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import type { AuthMessage } from './auth.ts'
import { parseClientMessage } from './clientMessages.ts'
import { authenticatedMessage, pongMessage } from './controlMessages.ts'
import type { SocketConnection } from '../socket/socketConnection.ts'
import { createSubscriptions, type SubscriptionsOptions } from './subscriptions.ts'

/** The talk with one client. */
export interface Session {
  receive(bytes: Uint8Array): void
  /** Tells a caller whose credentials ended, and ends its private subscriptions. Looks at nothing but memory. */
  checkCaller(): void
  /** Ends the private ones of its subscriptions. */
  lapse(): void
  /** Ends all its subscriptions. */
  close(): void
}

export interface SessionOptions extends SubscriptionsOptions {
  readonly connection: SocketConnection
  /** Who sends this message. Throws an `ApiError`. */
  readonly authenticate: (message: AuthMessage) => Promise<Caller>
  /** Why a caller may no longer listen; `undefined` when it still may. */
  readonly lapseOf: (caller: Caller) => ApiError | undefined
  readonly now: () => number
  /** Turns whatever was thrown into what the client is told. */
  readonly toApiError: (error: unknown) => ApiError
}

interface Received {
  readonly message: ClientMessage | ApiError
  /** What it can't have by then it is refused, so that those behind it are not held up for longer. */
  readonly untilMs: number
}

/** Works on messages one after the other, in the order in which they came. */
export function openSession(options: SessionOptions): Session {
  const { connection, bounds } = options
  const subscriptions = createSubscriptions(options)
  const waiting: Received[] = []
  let isBusy = false

  /** Returns a promise only when there is something to wait for. */
  function answer({ message, untilMs }: Received): void | Promise<void> {
    if (message instanceof ApiError) return connection.refuse(message)
    switch (message.op) {
      case 'ping':
        return connection.send(pongMessage(options.now()))
      case 'pong':
        return undefined
      case 'auth':
        return authenticate(message, untilMs)
      case 'subscribe':
        return subscriptions.subscribe(message, untilMs)
      case 'unsubscribe':
        return subscriptions.unsubscribe(message)
    }
  }

  function checkCaller(): void {
    const lapsed = connection.caller && options.lapseOf(connection.caller)
    if (lapsed !== undefined) connection.lapse(lapsed)
  }

  async function authenticate(message: AuthMessage, untilMs: number): Promise<void> {
    checkCaller()
    if (connection.caller !== undefined) throw alreadyAuthenticated()
    if (performance.now() > untilMs) throw waitedTooLong()
    connection.caller = await options.authenticate(message)
    connection.send(authenticatedMessage(connection.caller))
  }

  function work(received: Received): void {
    try {
      const later = answer(received)
      if (later === undefined) return
      isBusy = true
      later.catch(tell).finally(workOn)
    } catch (error) {
      tell(error)
    }
  }

  function workOn(): void {
    isBusy = false
    while (!isBusy && connection.isOpen && waiting.length > 0) work(waiting.shift()!)
  }

  function tell(error: unknown): void {
    connection.refuse(options.toApiError(error))
  }

  return {
    receive(bytes) {
      const received = { message: parseClientMessage(bytes), untilMs: performance.now() + bounds.maxWaitMs }
      if (!isBusy) work(received)
      else if (waiting.length < bounds.maxWaitingMessages) waiting.push(received)
      else connection.cut(CLOSE_CODES.rateLimited, tooManyWaiting(bounds.maxWaitingMessages))
    },
    checkCaller,
    lapse: () => subscriptions.closePrivate(),
    close() {
      waiting.length = 0
      subscriptions.closeAll()
    },
  }
}

function alreadyAuthenticated(): ApiError {
  return new ApiError('VALIDATION_ERROR', 'This socket is authenticated already; open another one for another account.')
}

function waitedTooLong(): ApiError {
  return new ApiError('NOT_READY', 'An earlier message took too long; try again in a moment.')
}

function tooManyWaiting(max: number): ApiError {
  return new ApiError('RATE_LIMITED', `More than ${max} messages wait for an earlier one.`)
}
