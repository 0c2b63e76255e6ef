import type { Tick } from '../../../market/feed/feed.ts'
import type { Subscription, Connection } from '../../../stream/channel.ts'
import { createCoalescer } from '../../../ground/coalesce.ts'
import { createThrottle } from '../../../ground/throttle.ts'
import { createRefCounted } from '../../../ground/refCounted.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { coinsOf, type Coin } from '../../coins.ts'
import type { FacadeStreamSources } from './facadeChannel.ts'
import { notReady } from '../../../ground/unavailable.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'

/** A value written as a message. */
interface ValueText {
  /** Changes when the value changes; leaves out the time at which it was made. */
  readonly key: string
  readonly text: string
}

/** A value with many subscribers: written once for all of them, and sent whole whenever it changes. */
interface LiveValue {
  readonly topic: Topic
  /** Reads the value and publishes it if it has changed. */
  look(): void
}

/** Values of coins, each read again when its pair ticks. `Options` select the value of a coin, as plain JSON. */
interface CoinValues<Options> {
  subscribe(connection: Connection, coin: Coin, options: Options): Subscription
  close(): void
}

interface CoinValuesOptions<Options> extends Pick<FacadeStreamSources, 'feed' | 'reads'> {
  readonly read: (coin: Coin, options: Options) => ValueText | undefined
  readonly counts: ChannelCounts
}

interface CoinValue extends LiveValue {
  readonly pairIndex: number
}

/** Creates the values. Subscribers with the same coin and options share one. */
export function createCoinValues<Options>(of: CoinValuesOptions<Options>): CoinValues<Options> {
  const { feed, reads, read, counts } = of
  const values = createRefCounted((key: string): CoinValue => {
    const [pairIndex, name, options] = JSON.parse(key) as [number, string, Options]
    const readNow = (): ValueText | undefined => {
      const coin = coinsOf(reads.markets()).named(name)
      return coin && read(coin, options)
    }
    return { ...openLiveValue(readNow, counts), pairIndex }
  })
  const looks = createCoalescer((value: CoinValue) => value.look())
  let marketsVersion = reads.marketsVersion()

  /** Reads the values of the pairs that ticked, or all of them when the markets were read again. */
  function onTick({ quotes }: Tick): void {
    const version = reads.marketsVersion()
    const ticked = version === marketsVersion ? new Set(quotes.map(({ pairIndex }) => pairIndex)) : undefined
    marketsVersion = version
    looks.add([...values.items()].filter(({ pairIndex }) => ticked?.has(pairIndex) ?? true))
  }

  const stop = feed.onTick(onTick)
  return {
    subscribe(connection, { pairIndex, name }, options) {
      const key = JSON.stringify([pairIndex, name, options])
      return values.hold(key).topic.subscribe(connection, () => values.release(key))
    },
    close() {
      stop()
      looks.close()
    },
  }
}

/** A value of all markets, read again at a steady pace while prices move. */
interface PacedValue {
  subscribe(connection: Connection): Subscription
  close(): void
}

/** Shortest time between two messages about all markets: not every tick sends one. */
const PACE_MS = 500

/** Creates a value of all markets. It is read while somebody is subscribed. */
export function createPacedValue(of: {
  readonly feed: FacadeStreamSources['feed']
  readonly counts: ChannelCounts
  readonly read: () => ValueText
}): PacedValue {
  let value: LiveValue | undefined
  let listeners = 0
  const throttle = createThrottle(PACE_MS, () => value?.look())
  const stop = of.feed.onTick(() => value && throttle.ask())

  function release(): void {
    listeners -= 1
    if (listeners === 0) value = undefined
  }

  return {
    subscribe(connection) {
      value ??= openLiveValue(of.read, of.counts)
      listeners += 1
      return value.topic.subscribe(connection, release)
    },
    close() {
      stop()
      throttle.close()
    },
  }
}

/** Opens a value. `read` returns `undefined` while there is none. */
function openLiveValue(read: () => ValueText | undefined, counts: ChannelCounts): LiveValue {
  let told = read()
  const topic = createTopic({
    counts,
    snapshot() {
      if (told === undefined) throw notReady('starting')
      return told.text
    },
  })
  return {
    topic,
    look() {
      const now = topic.isWanted() ? read() : undefined
      if (now === undefined || now.key === told?.key) return
      told = now
      topic.publish(now.text)
    },
  }
}
