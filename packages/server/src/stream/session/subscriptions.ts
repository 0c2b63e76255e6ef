import { ApiError, isLogChannel, type ClientMessage } from '@bezel/protocol'
import type { OverloadGuard } from '../../access/overload.ts'
import type { StreamBounds } from '../bounds.ts'
import type { Channel, Channels, Connection, MessageLabel, Subscription } from '../channel.ts'
import { subscribedMessage, unsubscribedMessage, type SubscriptionName } from './controlMessages.ts'
import type { StreamCounts } from '../streamCounts.ts'

export type SubscribeMessage = ClientMessage & { readonly op: 'subscribe' }

/** The subscriptions of one client. */
export interface Subscriptions {
  /**
   * Subscribes. Throws an `ApiError`. Returns a promise only when there is something to wait for, at most until
   * `untilMs` (of `clock`).
   */
  subscribe(message: SubscribeMessage, untilMs: number): void | Promise<void>
  unsubscribe(message: SubscriptionName & MessageLabel): void
  closePrivate(): void
  closeAll(): void
}

export interface SubscriptionsOptions {
  readonly connection: Connection
  readonly channels: Channels
  readonly bounds: StreamBounds
  readonly counts: StreamCounts
  /** Sheds subscriptions of clients without credentials. Left out: none are. */
  readonly overload?: Pick<OverloadGuard, 'admit'> | undefined
  /** A clock in milliseconds that never goes back. */
  readonly clock: () => number
}

interface Known {
  readonly name: SubscriptionName
  readonly subscription: Subscription
}

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { connection, channels, bounds, counts, clock } = options
  const byKey = new Map<string, Known>()

  function begin(name: SubscriptionName, subscription: Subscription): void {
    byKey.set(keyOf(name), { name, subscription })
    counts.channels[name.channel].subscriptions += 1
    connection.send(subscribedMessage(name, false))
    subscription.start()
  }

  /** Begins a subscription after a wait, in which the client may have left or lost the right to listen. */
  function beginLater(name: SubscriptionName, subscription: Subscription): void {
    const isPrivate = isLogChannel(name.channel)
    if (connection.isOpen && (!isPrivate || connection.caller !== undefined)) return begin(name, subscription)
    subscription.close()
    if (isPrivate) throw unauthenticated()
  }

  function end(key: string, { name, subscription }: Known): void {
    byKey.delete(key)
    counts.channels[name.channel].subscriptions -= 1
    subscription.close()
  }

  return {
    subscribe(message, untilMs) {
      if (byKey.has(keyOf(message))) return connection.send(subscribedMessage(message, true))
      if (byKey.size >= bounds.maxSubscriptions) throw tooMany(bounds)
      if (isLogChannel(message.channel) && connection.caller === undefined) throw unauthenticated()
      if (connection.caller === undefined) options.overload?.admit()
      // The message was checked against the schema of its channel.
      const channel = channels[message.channel] as Channel<SubscribeMessage>
      const made = channel.subscribe(connection, message)
      if (!(made instanceof Promise)) return begin(message, made)
      return within(untilMs - clock(), made).then((later) => beginLater(message, later))
    },
    unsubscribe(name) {
      const key = keyOf(name)
      const known = byKey.get(key)
      if (known !== undefined) end(key, known)
      connection.send(unsubscribedMessage(name))
    },
    closePrivate() {
      for (const [key, known] of byKey) if (isLogChannel(known.name.channel)) end(key, known)
    },
    closeAll() {
      for (const [key, known] of byKey) end(key, known)
    },
  }
}

/**
 * Waits at most `maxMs` for a subscription, so that messages behind it are not held up for longer. A subscription that
 * comes later is closed.
 */
function within(maxMs: number, made: Promise<Subscription>): Promise<Subscription> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        reject(tookTooLong())
        made.then((late) => late.close()).catch(() => undefined)
      },
      Math.max(0, maxMs),
    )
    made.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}

function keyOf({ channel, market, interval }: SubscriptionName): string {
  return `${channel} ${market ?? ''} ${interval ?? ''}`
}

function unauthenticated(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'This channel is private: send auth first.')
}

function tookTooLong(): ApiError {
  return new ApiError(
    'NOT_READY',
    'What this subscription begins with could not be read in time; try again in a moment.',
  )
}

function tooMany({ maxSubscriptions }: StreamBounds): ApiError {
  return new ApiError('RATE_LIMITED', `A socket has at most ${maxSubscriptions} subscriptions; end one first.`)
}
