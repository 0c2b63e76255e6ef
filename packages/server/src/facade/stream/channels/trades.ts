import { notReady } from '../../../ground/unavailable.ts'
import type { Subscription, Connection } from '../../../stream/channel.ts'
import { createRefCounted } from '../../../ground/refCounted.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'
import { coinsOf, type Coin } from '../../coins.ts'
import { listFacadeTrades, type FacadeTrade } from '../../info/recentTrades.ts'
import { channelText, requiredCoin, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createSingleFlight, type SingleFlight } from '../../../ground/singleFlight.ts'

/** The last trades of one coin, kept while somebody is subscribed. */
interface Tape extends SingleFlight {
  readonly topic: Topic
  readonly pairIndex: number
}

/**
 * Keeps a tape for a minute after its last subscriber, because reading it again costs the store more than the memory.
 */
const KEEPING = { keptMs: 60_000, maxKept: 500 }

/**
 * Creates the channel of a coin's trades: the last ones, oldest first, and then each new one, in the order in which
 * clients append them.
 */
export function createTrades(
  { reads, trades, turns, onError }: Pick<FacadeStreamSources, 'reads' | 'trades' | 'turns' | 'onError'>,
  counts: ChannelCounts,
): FacadeChannel {
  const tapes = createRefCounted(openTape, { keeping: KEEPING })
  let isClosed = false

  function openTape(key: string): Tape {
    const [pairIndex, name] = JSON.parse(key) as [number, string]
    let told: readonly FacadeTrade[] | undefined
    let lastTid = 0
    const topic = createTopic({
      counts,
      snapshot() {
        if (told === undefined) throw notReady('starting')
        return messageOf(told)
      },
    })

    async function list(): Promise<readonly FacadeTrade[]> {
      const coin = coinsOf(reads.markets()).named(name)
      return coin === undefined ? [] : listFacadeTrades(reads, coin)
    }

    /** Publishes the trades that are new. Trades undone by a reorg are gone from the list and not sent. */
    async function read(): Promise<void> {
      const listed = await turns.later(list)
      const isFirst = told === undefined
      told = listed.toReversed()
      const fresh = told.filter(({ tid }) => tid > lastTid)
      lastTid = Math.max(lastTid, ...told.map(({ tid }) => tid))
      if (isFirst || fresh.length > 0) topic.publish(messageOf(fresh))
    }

    const refresher = createSingleFlight({
      work: read,
      onError,
      isOver: () => isClosed || tapes.get(key)?.topic !== topic,
    })
    return { topic, pairIndex, ask: refresher.ask }
  }

  const stop = trades.onTrades((added) => {
    const pairs = new Set(added.map(({ pairIndex }) => pairIndex))
    for (const tape of tapes.items()) if (pairs.has(tape.pairIndex)) tape.ask()
  })
  const stopTakenBack = trades.onTakenBack(() => {
    for (const tape of tapes.items()) tape.ask()
  })
  function subscribe(connection: Connection, { pairIndex, name }: Coin): Subscription {
    const key = JSON.stringify([pairIndex, name])
    const isNew = tapes.get(key) === undefined
    const tape = tapes.hold(key)
    if (isNew) tape.ask()
    return tape.topic.subscribe(connection, () => tapes.release(key))
  }

  return {
    parse(body) {
      const coin = requiredCoin(body, reads)
      return { key: coin.name, open: (connection) => subscribe(connection, coin) }
    },
    close() {
      isClosed = true
      stop()
      stopTakenBack()
    },
  }
}

function messageOf(trades: readonly FacadeTrade[]): string {
  return channelText('trades', JSON.stringify(trades))
}
