import type { CandleInterval } from '@bezel/protocol'
import type { SubscribeCandles } from '../channel.ts'
import { openChart, type Chart } from '../topics/chart.ts'
import { createLooks } from '../../ground/looks.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import { createShared } from '../../ground/shared.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { subscribeLoaded } from '../topics/subscribeLoaded.ts'
import type { PublicChannel } from './prices.ts'

/** The last candles of a market, oldest first, and then the current one whenever it changed, and ended ones that were corrected. */
export function createCandlesChannel(
  { markets, candles }: Pick<PublicSources, 'markets' | 'candles'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeCandles> {
  const charts = createShared((key: string) => {
    const [market, interval] = key.split(' ') as [string, CandleInterval]
    return openChart({ market, interval, candles, counts, pairIndex: markets.listed(market).pairIndex })
  })
  const looks = createLooks<Chart>()

  const stopChanges = candles.onChange((pairIndexes) => {
    const changed = new Set(pairIndexes)
    const due = [...charts.items()].filter(({ pairIndex }) => changed.has(pairIndex))
    for (const chart of due) chart.changes += 1
    looks.add(due)
  })
  const stopRepaired = candles.onRepaired(({ pairIndex, interval }) => {
    for (const chart of charts.items())
      if (chart.pairIndex === pairIndex && chart.interval === interval) chart.correct()
  })
  return {
    subscribe(connection, { market, interval }) {
      return subscribeLoaded(charts, `${market} ${interval}`, connection)
    },
    close() {
      stopChanges()
      stopRepaired()
      looks.close()
    },
  }
}
