import { ApiError, type Address } from '@bezel/protocol'
import type { Subscription } from '../../stream/channel.ts'
import type { Connection } from '../../stream/connection.ts'
import { MalformedInfoError } from '../info/malformedInfo.ts'
import type { FacadeBounds } from './facadeBounds.ts'
import type { FacadeChannels } from './facadeChannels.ts'
import type { FacadeChannelName, FacadeCounts } from './facadeCounts.ts'
import type { JsonObject } from './facadeMessage.ts'
import { errorText, subscriptionText } from './facadeTexts.ts'
import { SUBSCRIPTIONS, type Wanted } from './wanted.ts'

/** What one client of the facade listens to. Whatever is refused is told to the client. */
export interface FacadeSubscriptions {
  subscribe(asked: JsonObject): Promise<void>
  unsubscribe(asked: JsonObject): void
  closeAll(): void
}

export interface FacadeSubscriptionsOptions {
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

export function createFacadeSubscriptions(options: FacadeSubscriptionsOptions): FacadeSubscriptions {
  const { connection, channels, bounds, counts } = options
  const byKey = new Map<string, Known>()

  /** Clients know what is refused by its JSON in the text, behind these words. */
  function refuse(words: string, asked: JsonObject, reason?: string): void {
    connection.send(errorText(`${words} ${JSON.stringify(asked)}${reason === undefined ? '' : `: ${reason}`}`))
  }

  function refuseInvalid(asked: JsonObject, error: unknown): void {
    const isPlain = error instanceof MalformedInfoError
    refuse('Invalid subscription', asked, isPlain ? undefined : options.toApiError(error).message)
  }

  function requireRoom({ user }: Wanted): void {
    if (byKey.size >= bounds.maxSubscriptions) throw tooMany(`${bounds.maxSubscriptions} subscriptions`)
    const users = new Set([...byKey.values()].map((known) => known.user))
    users.delete(undefined)
    if (user !== undefined && !users.has(user) && users.size >= bounds.maxUsers)
      throw tooMany(`${bounds.maxUsers} users`)
  }

  async function begin(name: FacadeChannelName, key: string, wanted: Wanted, asked: JsonObject): Promise<void> {
    requireRoom(wanted)
    const subscription = await wanted.open(connection)
    // Meanwhile the client may have gone.
    if (!connection.isOpen) return subscription.close()
    byKey.set(key, { name, subscription, user: wanted.user })
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
        const { name, key, wanted } = wantedOf(asked, channels)
        if (byKey.has(key)) refuse('Already subscribed:', asked)
        else await begin(name, key, wanted, asked)
      } catch (error) {
        refuseInvalid(asked, error)
      }
    },
    unsubscribe(asked) {
      try {
        const { key } = wantedOf(asked, channels)
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

function wantedOf(
  asked: JsonObject,
  channels: FacadeChannels,
): { readonly name: FacadeChannelName; readonly key: string; readonly wanted: Wanted } {
  const { type } = asked
  if (typeof type !== 'string' || !Object.hasOwn(SUBSCRIPTIONS, type)) throw new MalformedInfoError()
  const name = type as FacadeChannelName
  const wanted = SUBSCRIPTIONS[name](asked, channels)
  return { name, key: `${name} ${wanted.key}`, wanted }
}

function tooMany(what: string): ApiError {
  return new ApiError('RATE_LIMITED', `a socket has at most ${what}; end one first.`)
}
