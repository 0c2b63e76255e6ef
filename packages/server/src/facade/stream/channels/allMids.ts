import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { Connection, Subscription } from '../../../stream/channel.ts'
import { createThrottle } from '../../../ground/throttle.ts'
import { midsOf } from '../../info/allMids.ts'
import { isOtherDex } from '../../info/infoRequest.ts'
import {
  channelText,
  sendOnce,
  type FacadeChannel,
  type FacadeStreamSources,
  type SubscriptionRequest,
} from './facadeChannel.ts'
import { openLiveValue } from './liveValues.ts'

/** Shortest time between two messages: each contains all prices, so not every tick sends one. */
const PACE_MS = 500

/** Creates the channel of the mark prices of all coins. */
export function createAllMids(
  { feed, reads }: Pick<FacadeStreamSources, 'feed' | 'reads'>,
  counts: ChannelCounts,
): FacadeChannel {
  function read() {
    const { text: mids } = midsOf(reads)
    // Sent without `dex`, because some clients take the empty name for a dex other than the main one.
    return { key: mids, text: channelText('allMids', `{"mids":${mids}}`) }
  }
  let value: ReturnType<typeof openLiveValue> | undefined
  let listeners = 0
  const throttle = createThrottle(PACE_MS, () => value?.look())
  const stop = feed.onTick(() => value && throttle.ask())

  function release(): void {
    listeners -= 1
    if (listeners === 0) value = undefined
  }

  function subscribe(connection: Connection): Subscription {
    value ??= openLiveValue(read, counts)
    listeners += 1
    return value.topic.subscribe(connection, release)
  }

  return {
    parse(body) {
      if (isOtherDex(body)) return midsElsewhere(String(body.dex))
      reads.markets()
      return { key: '', open: subscribe }
    },
    close() {
      stop()
      throttle.close()
    },
  }
}

/** Returns a subscription to the prices of a builder-deployed dex: empty, because there are none. */
function midsElsewhere(dex: string): SubscriptionRequest {
  const text = channelText('allMids', JSON.stringify({ dex, mids: {} }))
  return { key: dex, open: (connection) => sendOnce(connection, text) }
}
