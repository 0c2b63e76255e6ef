import type { Subscription, Connection } from '../../../stream/channel.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { userOf } from '../../info/infoRequest.ts'
import { channelText, type FacadeChannel } from './facadeChannel.ts'
import type { FacadeFill } from '../../userFills.ts'
import type { HistoryReader } from './history.ts'
import type { UserReaders } from './userReaders.ts'

/** Name of the messages, which differs from the name of the subscription. */
const CHANNEL = 'user'

/** Creates the channel of a user's events. It sends executions only; other events have channels of their own. */
export function createUserEvents(fills: UserReaders<HistoryReader<FacadeFill>>, counts: ChannelCounts): FacadeChannel {
  function subscribe(reader: HistoryReader<FacadeFill>, connection: Connection, onClose: () => void): Subscription {
    let stop = (): void => undefined
    return {
      start() {
        stop = reader.onNews((news) => {
          connection.send(channelText(CHANNEL, JSON.stringify({ fills: news })))
          counts.sent += 1
        })
      },
      close() {
        stop()
        onClose()
      },
    }
  }

  return {
    parse(body) {
      const user = userOf(body)
      return {
        key: user,
        user,
        open: (connection) => fills.subscribe(user, (reader, onClose) => subscribe(reader, connection, onClose)),
      }
    },
  }
}
