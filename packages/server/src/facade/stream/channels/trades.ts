import { notReady } from '../../../ground/notReady.ts'
import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { createShared } from '../../../ground/shared.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'
import type { Coin } from '../../coins.ts'
import { recentTrades } from '../../info/recentTrades.ts'
import { channelText } from '../facadeTexts.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { createRefresher, type Refresher } from '../../../ground/refresher.ts'

type Trade = { readonly tid: number }

/** One coin's last trades, while somebody listens. */
interface Tape extends Refresher {
  readonly topic: Topic
  readonly pairIndex: number
}

export interface Trades {
  subscribe(connection: Connection, coin: Coin): Subscription
  close(): void
}

/** To read a tape costs the store more than to keep it for who comes and goes. */
const KEEPING = { keptMs: 60_000, maxKept: 500 }

/** The last trades of a coin, oldest first, and then each new one: as clients append them. */
export function createTrades(
  { reads, trades, turns, onError }: Pick<FacadeStreamSources, 'reads' | 'trades' | 'turns' | 'onError'>,
  counts: ChannelCounts,
): Trades {
  const tapes = createShared(openTape, KEEPING)
  let isClosed = false

  function openTape(key: string): Tape {
    const [pairIndex, coin] = JSON.parse(key) as [number, string]
    let told: readonly Trade[] | undefined
    let lastTid = 0
    const topic = createTopic({
      counts,
      snapshot() {
        if (told === undefined) throw notReady('starting')
        return messageOf(told)
      },
    })

    /** What was told before, or was taken back, is not told. */
    async function read(): Promise<void> {
      const listed = (await turns.later(() => recentTrades({ coin }, reads))) as readonly Trade[] | null
      const isFirst = told === undefined
      told = (listed ?? []).toReversed()
      const fresh = told.filter(({ tid }) => tid > lastTid)
      lastTid = Math.max(lastTid, ...told.map(({ tid }) => tid))
      if (isFirst || fresh.length > 0) topic.publish(messageOf(fresh))
    }

    const refresher = createRefresher({
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
  return {
    subscribe(connection, { pairIndex, name }) {
      const key = JSON.stringify([pairIndex, name])
      const isNew = tapes.get(key) === undefined
      const tape = tapes.hold(key)
      if (isNew) tape.ask()
      return tape.topic.subscribe(connection, () => tapes.release(key))
    },
    close() {
      isClosed = true
      stop()
      stopTakenBack()
    },
  }
}

function messageOf(trades: readonly Trade[]): string {
  return channelText('trades', JSON.stringify(trades))
}
