import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { historicalOrders } from '../../info/orderStatus.ts'
import { lower } from '../../info/infoRequest.ts'
import { channelText, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import type { OrderReaders } from './orderUpdates.ts'
import { createUserChannel } from './userChannel.ts'

const CHANNEL = 'userHistoricalOrders'

/** Creates the channel of a user's last orders, as `historicalOrders` of `/info` answers them, and of every change. */
export function createUserHistoricalOrders(
  { reads, turns }: Pick<FacadeStreamSources, 'reads' | 'turns'>,
  readers: OrderReaders,
  counts: ChannelCounts,
): FacadeChannel {
  return createUserChannel({
    readers,
    counts,
    messageOf: (orderHistory, user) => channelText(CHANNEL, JSON.stringify({ user: lower(user), orderHistory })),
    async begin({ user }, meter) {
      const orders = await turns.later(async () => historicalOrders({ user }, reads, meter))
      return {
        text: channelText(CHANNEL, `{"isSnapshot":true,"user":"${lower(user)}","orderHistory":${String(orders)}}`),
      }
    },
  })
}
