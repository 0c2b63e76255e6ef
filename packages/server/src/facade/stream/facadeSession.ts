import { ApiError, CLOSE_CODES } from '@bezel/protocol'
import type { Session } from '../../stream/session/session.ts'
import type { SocketConnection } from '../../stream/socket/socketConnection.ts'
import type { FacadeBounds } from './facadeBounds.ts'
import { parseFacadeMessage } from './facadeMessage.ts'
import { createFacadePosts, type FacadePostsOptions } from './facadePosts.ts'
import { createFacadeSubscriptions, type FacadeSubscriptionsOptions } from './facadeSubscriptions.ts'
import { malformedText, PONG_TEXT } from './facadeTexts.ts'

export interface FacadeSessionOptions
  extends Omit<FacadeSubscriptionsOptions, 'connection' | 'bounds'>, Pick<FacadePostsOptions, 'exchange' | 'charge'> {
  readonly connection: SocketConnection
  readonly bounds: FacadeBounds
}

/** The talk with one client of the facade. Subscriptions begin and end in the order in which they were asked for; nothing else waits. */
export function openFacadeSession(options: FacadeSessionOptions): Session {
  const { connection, bounds, channels } = options
  const subscriptions = createFacadeSubscriptions(options)
  const posts = createFacadePosts({ ...options, reads: channels.reads, maxPosts: bounds.maxPosts })
  let line: Promise<void> = Promise.resolve()
  let waiting = 0

  function inLine(work: () => void | Promise<void>): void {
    if (waiting >= bounds.maxWaitingMessages) return connection.cut(CLOSE_CODES.rateLimited, tooManyWaiting(bounds))
    waiting += 1
    line = workAfter(line, work)
  }

  async function workAfter(earlier: Promise<void>, work: () => void | Promise<void>): Promise<void> {
    await earlier
    if (connection.isOpen) await work()
    waiting -= 1
  }

  return {
    receive(bytes) {
      const message = parseFacadeMessage(bytes)
      const isLong = bytes.length > bounds.maxSubscriptionBytes
      if (isLong && message?.method !== 'post') return connection.send(malformedText(bytes))
      switch (message?.method) {
        case 'ping':
          return connection.send(PONG_TEXT)
        case 'subscribe':
          return inLine(() => subscriptions.subscribe(message.subscription))
        case 'unsubscribe':
          return inLine(() => subscriptions.unsubscribe(message.subscription))
        case 'post':
          return void posts.answer(message.id, message.request)
        case undefined:
          return connection.send(malformedText(bytes))
      }
    },
    // Nobody proves who it is here: what is told of a user is what everybody may see.
    checkCaller: () => undefined,
    lapse: () => undefined,
    close: () => subscriptions.closeAll(),
  }
}

function tooManyWaiting({ maxWaitingMessages }: FacadeBounds): ApiError {
  return new ApiError('RATE_LIMITED', `More than ${maxWaitingMessages} messages wait for an earlier one.`)
}
