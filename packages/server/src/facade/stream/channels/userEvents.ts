import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { channelText } from '../facadeTexts.ts'
import type { FillTale, FillSubscriptionOptions } from './fillTale.ts'

/** The channel has another name than what is subscribed to. */
const CHANNEL = 'user'

/** What happens to a user, on one socket: executions, and nothing else that its other channels do not tell. */
export function subscribeUserEvents(
  tale: Pick<FillTale, 'onFills'>,
  connection: Connection,
  { onClose, counts }: Pick<FillSubscriptionOptions, 'onClose' | 'counts'>,
): Subscription {
  let stop = (): void => undefined
  return {
    start() {
      stop = tale.onFills((fills) => {
        connection.send(channelText(CHANNEL, JSON.stringify({ fills })))
        counts.sent += 1
      })
    },
    close() {
      stop()
      onClose()
    },
  }
}
