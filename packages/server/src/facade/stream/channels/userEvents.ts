import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { FacadeFill } from '../../userFills.ts'
import { channelText, type FacadeChannel } from './facadeChannel.ts'
import type { HistoryReader } from './history.ts'
import { createUserChannel } from './userChannel.ts'
import type { UserReaders } from './userReaders.ts'

/** Name of the messages, which differs from the name of the subscription. */
const CHANNEL = 'user'

/** Creates the channel of a user's events. It sends executions only; other events have channels of their own. */
export function createUserEvents(
  readers: UserReaders<HistoryReader<FacadeFill>>,
  counts: ChannelCounts,
): FacadeChannel {
  const messageOf = (fills: readonly FacadeFill[]): string => channelText(CHANNEL, JSON.stringify({ fills }))
  return createUserChannel({ readers, counts, messageOf })
}
