import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { midsOf } from '../../info/allMids.ts'
import { isOtherDex } from '../../info/infoRequest.ts'
import {
  channelText,
  sendOnce,
  type FacadeChannel,
  type FacadeStreamSources,
  type SubscriptionRequest,
} from './facadeChannel.ts'
import { createPacedValue } from './liveValues.ts'

/** Creates the channel of the mark prices of all coins. */
export function createAllMids(
  { feed, reads }: Pick<FacadeStreamSources, 'feed' | 'reads'>,
  counts: ChannelCounts,
): FacadeChannel {
  const mids = createPacedValue({
    feed,
    counts,
    read() {
      const { text } = midsOf(reads)
      // Sent without `dex`, because some clients take the empty name for a dex other than the main one.
      return { key: text, text: channelText('allMids', `{"mids":${text}}`) }
    },
  })
  return {
    parse(body) {
      if (isOtherDex(body)) return midsElsewhere(String(body.dex))
      reads.markets()
      return { key: '', open: mids.subscribe }
    },
    close: mids.close,
  }
}

/** Returns a subscription to the prices of a builder-deployed dex: empty, because there are none. */
function midsElsewhere(dex: string): SubscriptionRequest {
  const text = channelText('allMids', JSON.stringify({ dex, mids: {} }))
  return { key: dex, open: (connection) => sendOnce(connection, text) }
}
