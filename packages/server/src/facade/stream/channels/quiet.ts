import type { Address } from '@bezel/protocol'
import { lower, userOf, type InfoBody } from '../../info/infoRequest.ts'
import { channelText, sendOnce, type FacadeChannel } from './facadeChannel.ts'

// Hyperliquid channels about things this service does not have. Clients wait for the first message of a channel that
// begins with one, so those channels send an empty one.

/** Channels that send at most one empty message, by name. */
export const QUIET_CHANNELS = {
  /** No spot balances. */
  spotState: quietChannel((user) => channelText('spotState', JSON.stringify({ user, spotState: { balances: [] } }))),
  /** No notifications. */
  notification: quietChannel(() => undefined),
  /** No orders in slices (TWAP). */
  twapStates: quietChannel((user, { dex }) =>
    channelText('twapStates', JSON.stringify({ dex: dex ?? '', user, states: [] })),
  ),
  userTwapHistory: quietChannel((user) =>
    channelText('userTwapHistory', JSON.stringify({ isSnapshot: true, user, history: [] })),
  ),
  userTwapSliceFills: quietChannel((user) =>
    channelText('userTwapSliceFills', JSON.stringify({ isSnapshot: true, user, twapSliceFills: [] })),
  ),
  /** No spot markets. */
  spotAssetCtxs: publicQuietChannel(channelText('spotAssetCtxs', '[]')),
  /** No outcome markets. */
  outcomeMetaUpdates: publicQuietChannel(channelText('outcomeMetaUpdates', '{"updates":[]}')),
} satisfies Readonly<Record<string, FacadeChannel>>

/** Creates a channel of everybody whose only message is `text`. */
function publicQuietChannel(text: string): FacadeChannel {
  return { parse: () => ({ key: '', open: (connection) => sendOnce(connection, text) }) }
}

/**
 * Creates a channel of a user whose only message is `textOf(user, body)`, or that has none when it returns `undefined`.
 * `user` is the address in lower case, as clients see it.
 */
export function quietChannel(textOf: (user: string, body: InfoBody) => string | undefined): FacadeChannel {
  return {
    parse(body) {
      const user: Address = userOf(body)
      return {
        key: `${user} ${String(body.dex ?? '')}`,
        user,
        open: (connection) => sendOnce(connection, textOf(lower(user), body)),
      }
    },
  }
}
