import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { createLooks } from '../../../ground/looks.ts'
import { createShared } from '../../../ground/shared.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { Coin } from '../../coins.ts'
import type { FacadeInterval } from '../../info/candleIntervals.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { createRefresher } from '../../../ground/refresher.ts'
import { openChart, type Chart } from './chart.ts'

export interface CandleChannel {
  subscribe(connection: Connection, coin: Coin, interval: FacadeInterval): Subscription
  close(): void
}

/** The current candle of a coin whenever it changed. */
export function createCandleChannel(
  { reads, candles, onError }: Pick<FacadeStreamSources, 'reads' | 'candles' | 'onError'>,
  counts: ChannelCounts,
): CandleChannel {
  const looks = createLooks<Chart>()
  let isClosed = false
  const charts = createShared((key: string): Chart => {
    const [pairIndex, interval] = JSON.parse(key) as [number, FacadeInterval]
    const chart: Chart = openChart({ reads, pairIndex, interval, counts, askToLoad: () => refresher.ask() })
    const isOver = (): boolean => isClosed || charts.get(key) !== chart
    const refresher = createRefresher({ work: () => chart.load(), isOver, onError })
    return chart
  })

  const stopChanges = candles.onChange((pairIndexes) => {
    const changed = new Set(pairIndexes)
    looks.add([...charts.items()].filter(({ pairIndex }) => changed.has(pairIndex)))
  })
  const stopRepaired = candles.onRepaired(({ pairIndex, interval }) => {
    for (const chart of charts.items()) {
      if (chart.pairIndex === pairIndex && chart.source === interval) chart.load().catch(onError)
    }
  })
  return {
    subscribe(connection, { pairIndex }, interval) {
      const key = JSON.stringify([pairIndex, interval])
      const isNew = charts.get(key) === undefined
      const chart = charts.hold(key)
      if (isNew) chart.look()
      return chart.topic.subscribe(connection, () => charts.release(key))
    },
    close() {
      isClosed = true
      stopChanges()
      stopRepaired()
      looks.close()
    },
  }
}
