import type { Tick } from '../../../market/feed.ts'
import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { createLooks } from '../../../ground/looks.ts'
import { createShared } from '../../../ground/shared.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { InfoRequest } from '../../info/infoRequest.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { openLiveValue, type LiveValue, type Telling } from '../liveValue.ts'

/** Values of coins, each of which may change when its pair ticks. */
export interface PairValues {
  subscribe(connection: Connection, pairIndex: number, request: InfoRequest): Subscription
  close(): void
}

export interface PairValuesOptions extends Pick<FacadeStreamSources, 'feed' | 'reads'> {
  readonly read: (request: InfoRequest) => Telling | undefined
  readonly counts: ChannelCounts
}

interface PairValue extends LiveValue {
  readonly pairIndex: number
}

/** Requests that say the same share one value. */
export function createPairValues({ feed, reads, read, counts }: PairValuesOptions): PairValues {
  const values = createShared((key: string): PairValue => {
    const [pairIndex, request] = JSON.parse(key) as [number, InfoRequest]
    return { ...openLiveValue(() => read(request), counts), pairIndex }
  })
  const looks = createLooks<PairValue>()
  let marketsVersion = reads.marketsVersion()

  /** Prices change with ticks, all else only when the markets were read again. */
  function onTick({ quotes }: Tick): void {
    const version = reads.marketsVersion()
    const ticked = version === marketsVersion ? new Set(quotes.map(({ pairIndex }) => pairIndex)) : undefined
    marketsVersion = version
    looks.add([...values.items()].filter(({ pairIndex }) => ticked?.has(pairIndex) ?? true))
  }

  const stop = feed.onTick(onTick)
  return {
    subscribe(connection, pairIndex, request) {
      const key = JSON.stringify([pairIndex, request])
      return values.hold(key).topic.subscribe(connection, () => values.release(key))
    },
    close() {
      stop()
      looks.close()
    },
  }
}
