import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { allMids } from '../../info/allMids.ts'
import { channelText } from '../facadeTexts.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { openLiveValue } from '../liveValue.ts'
import { createPaced } from '../../../ground/paced.ts'

/** All of them are told each time, so not at every tick. */
const PACE_MS = 500

export interface AllMids {
  subscribe(connection: Connection): Subscription
  close(): void
}

/** The mark of every coin. */
export function createAllMids(
  { feed, reads }: Pick<FacadeStreamSources, 'feed' | 'reads'>,
  counts: ChannelCounts,
): AllMids {
  function read() {
    const { text: mids } = allMids({}, reads)
    // Without a name of an exchange within the exchange: some clients take the empty one for another than the main one.
    return { key: mids, text: channelText('allMids', `{"mids":${mids}}`) }
  }
  let value: ReturnType<typeof openLiveValue> | undefined
  let listeners = 0
  const paced = createPaced(PACE_MS, () => value?.look())
  const stop = feed.onTick(() => value && paced.ask())

  function release(): void {
    listeners -= 1
    if (listeners === 0) value = undefined
  }

  return {
    subscribe(connection) {
      value ??= openLiveValue(read, counts)
      listeners += 1
      return value.topic.subscribe(connection, release)
    },
    close() {
      stop()
      paced.close()
    },
  }
}
