import { ApiError, CLOSE_CODES, type Address } from '@bezel/protocol'
import type { Session } from '../../stream/socket/socketKind.ts'
import type { SocketConnection } from '../../stream/socket/socketConnection.ts'
import {
  parseFacadeMessage,
  malformedText,
  PONG_TEXT,
  type JsonObject,
  errorText,
  subscriptionText,
} from './facadeMessages.ts'
import { createFacadePosts, type FacadePostsOptions } from './facadePosts.ts'
import type { Subscription, Connection } from '../../stream/channel.ts'
import { MalformedInfoError } from '../info/infoRequest.ts'
import type { FacadeChannels } from './facadeChannels.ts'
import {
  isFacadeChannel,
  type FacadeChannelName,
  type FacadeCounts,
  type SubscriptionRequest,
} from './channels/facadeChannel.ts'
import { MAX_BODY_BYTES } from '../../access/limits.ts'
import { createRowMeter } from '../../access/weights.ts'
import { DEFAULT_BOUNDS, type StreamBounds } from '../../stream/bounds.ts'

/** Limits of the facade's sockets. */
export interface FacadeBounds extends StreamBounds {
  /**
   * Length of a subscribing message. It is kept while it waits for earlier ones, and its text for as long as the
   * subscription lasts.
   */
  readonly maxSubscriptionBytes: number
  /** Number of different users that one socket may subscribe to. */
  readonly maxUsers: number
  /** Number of unanswered posts of one socket. */
  readonly maxPosts: number
  /**
   * Number of messages accepted at once, before the limit per second applies: a client that reconnects renews all its
   * subscriptions at once.
   */
  readonly maxMessageBurst: number
}

export const FACADE_BOUNDS: FacadeBounds = Object.freeze({
  ...DEFAULT_BOUNDS,
  // A post carries what would otherwise be the body of a request.
  maxMessageBytes: MAX_BODY_BYTES,
  maxSubscriptionBytes: DEFAULT_BOUNDS.maxMessageBytes,
  heartbeatMs: 30_000,
  // The slowest known client sends something every 50 s.
  idleMs: 75_000,
  maxUsers: 10,
  maxPosts: 50,
  maxMessageBurst: DEFAULT_BOUNDS.maxSubscriptions + 50,
})

interface FacadeSessionOptions
  extends
    Omit<FacadeSubscriptionsOptions, 'connection' | 'bounds'>,
    Pick<FacadePostsOptions, 'exchange' | 'charge' | 'overload'> {
  readonly connection: SocketConnection
  readonly bounds: FacadeBounds
}

/**
 * Opens the session of one client. Subscriptions begin and end in the order in which they were asked for; posts and
 * pings do not wait.
 */
export function openFacadeSession(options: FacadeSessionOptions): Session {
  const { connection, bounds, channels } = options
  const subscriptions = createFacadeSubscriptions(options)
  const { reads, settle } = channels
  const posts = createFacadePosts({ ...options, reads, settle, maxPosts: bounds.maxPosts })
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
    // Clients do not authenticate: a user's data on this stream is public.
    checkCaller: () => undefined,
    lapse: () => undefined,
    close: () => subscriptions.closeAll(),
  }
}

function tooManyWaiting({ maxWaitingMessages }: FacadeBounds): ApiError {
  return new ApiError('RATE_LIMITED', `More than ${maxWaitingMessages} messages wait for an earlier one.`)
}

/** The subscriptions of one client. A refusal is sent to the client as an error message. */
interface FacadeSubscriptions {
  subscribe(asked: JsonObject): Promise<void>
  unsubscribe(asked: JsonObject): void
  closeAll(): void
}

interface FacadeSubscriptionsOptions extends Pick<FacadePostsOptions, 'charge' | 'overload'> {
  readonly connection: Connection
  readonly channels: FacadeChannels
  readonly bounds: Pick<FacadeBounds, 'maxSubscriptions' | 'maxUsers'>
  readonly counts: FacadeCounts
  readonly toApiError: (error: unknown) => ApiError
}

interface Known {
  readonly name: FacadeChannelName
  readonly user: Address | undefined
  readonly subscription: Subscription
}

/** A parsed subscription. `key` identifies it on its socket. */
interface Named {
  readonly name: FacadeChannelName
  readonly key: string
  readonly request: SubscriptionRequest
}

function createFacadeSubscriptions(options: FacadeSubscriptionsOptions): FacadeSubscriptions {
  const { connection, channels, bounds, counts } = options
  const byKey = new Map<string, Known>()

  /** Refuses a request. Clients find the refused one by its JSON in the text after `words`. */
  function refuse(words: string, asked: JsonObject, reason?: string): void {
    connection.send(errorText(`${words} ${JSON.stringify(asked)}${reason === undefined ? '' : `: ${reason}`}`))
  }

  function refuseInvalid(asked: JsonObject, error: unknown): void {
    const isPlain = error instanceof MalformedInfoError
    refuse('Invalid subscription', asked, isPlain ? undefined : options.toApiError(error).message)
  }

  function requireRoom({ user }: SubscriptionRequest): void {
    if (byKey.size >= bounds.maxSubscriptions) throw tooMany(`${bounds.maxSubscriptions} subscriptions`)
    const users = new Set([...byKey.values()].map((known) => known.user))
    users.delete(undefined)
    if (user !== undefined && !users.has(user) && users.size >= bounds.maxUsers)
      throw tooMany(`${bounds.maxUsers} users`)
  }

  async function begin({ name, key, request }: Named, asked: JsonObject): Promise<void> {
    requireRoom(request)
    // A subscription that is shed costs its caller nothing.
    options.overload?.admit()
    // What is told of a user is read for it, and begins with a page; the markets are read for everybody.
    if (request.user !== undefined) {
      await options.charge()
      await channels.settle?.()
    }
    const subscription = await request.open(connection, createRowMeter(options.charge))
    // The client may have disconnected meanwhile.
    if (!connection.isOpen) return subscription.close()
    byKey.set(key, { name, subscription, user: request.user })
    counts[name].subscriptions += 1
    connection.send(subscriptionText('subscribe', asked))
    subscription.start()
  }

  function end(key: string, { name, subscription }: Known): void {
    byKey.delete(key)
    counts[name].subscriptions -= 1
    subscription.close()
  }

  return {
    async subscribe(asked) {
      try {
        const named = parseSubscription(asked, channels)
        if (byKey.has(named.key)) refuse('Already subscribed:', asked)
        else await begin(named, asked)
      } catch (error) {
        refuseInvalid(asked, error)
      }
    },
    unsubscribe(asked) {
      try {
        const { key } = parseSubscription(asked, channels)
        const known = byKey.get(key)
        if (known === undefined) return refuse('Already unsubscribed:', asked)
        end(key, known)
        connection.send(subscriptionText('unsubscribe', asked))
      } catch (error) {
        refuseInvalid(asked, error)
      }
    },
    closeAll() {
      for (const [key, known] of byKey) end(key, known)
    },
  }
}

function parseSubscription(asked: JsonObject, { byName }: FacadeChannels): Named {
  const { type: name } = asked
  if (!isFacadeChannel(name)) throw new MalformedInfoError()
  const request = byName[name].parse(asked)
  return { name, key: `${name} ${request.key}`, request }
}

function tooMany(what: string): ApiError {
  return new ApiError('RATE_LIMITED', `a socket has at most ${what}; end one first.`)
}
