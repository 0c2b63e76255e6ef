import type { ChainSlug } from '@bezel/protocol'
import type { StreamAuth } from './streamAuth.ts'
import type { StreamBounds } from '../bounds.ts'
import type { Channels } from '../channel.ts'
import { authenticatedMessage, errorMessage, helloMessage, pingMessage } from './controlMessages.ts'
import { textFrame } from '../socket/frames.ts'
import { createMessageRate, type SocketKind } from '../socket/socketKind.ts'
import { openSession } from './session.ts'
import type { SubscriptionsOptions } from './subscriptions.ts'
import type { StreamCounts } from '../streamCounts.ts'

export interface NativeKindOptions {
  readonly channelsOf: (chain: ChainSlug) => Channels
  readonly auth: StreamAuth
  readonly counts: StreamCounts
  readonly overload?: SubscriptionsOptions['overload']
  readonly now: () => number
  /** A clock in milliseconds that never goes back. Default `performance.now`. */
  readonly clock?: () => number
}

/** Creates the socket kind of `/v1/{chain}/ws`. */
export function createNativeKind(options: NativeKindOptions, bounds: StreamBounds): SocketKind {
  const { auth, counts, overload, now, clock = () => performance.now() } = options
  return {
    path: /^\/v1\/([^/?]+)\/ws(?:\?|$)/,
    operation: 'openStream',
    bounds,
    dialect: { errorText: errorMessage, pingFrame: (nowMs) => textFrame(pingMessage(nowMs)) },
    createRate: () => createMessageRate(bounds.maxMessagesPerSecond),
    authenticateUpgrade: (chain, request) => auth.authenticateUpgrade(chain, request),
    openSession(connection, { chain, caller, charge, toApiError }) {
      const session = openSession({
        connection,
        bounds,
        counts,
        overload,
        now,
        clock,
        toApiError,
        channels: options.channelsOf(chain.slug),
        lapseOf: (of) => auth.lapseOf(chain, of),
        async authenticate(message) {
          await charge()
          return auth.authenticate(chain, message)
        },
      })
      connection.send(helloMessage(chain.slug, bounds.heartbeatMs))
      if (caller !== undefined) {
        connection.caller = caller
        connection.send(authenticatedMessage(caller))
      }
      return session
    },
  }
}
