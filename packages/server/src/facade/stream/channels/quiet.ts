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
  /** No funding payments: funding is settled when the position changes. */
  userFundings: quietChannel((user) =>
    channelText('userFundings', JSON.stringify({ isSnapshot: true, user, fundings: [] })),
  ),
  /** No deposits: collateral stays in the wallet until it is traded. */
  userNonFundingLedgerUpdates: quietChannel((user) =>
    channelText('userNonFundingLedgerUpdates', JSON.stringify({ isSnapshot: true, user, nonFundingLedgerUpdates: [] })),
  ),
} satisfies Readonly<Record<string, FacadeChannel>>

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
