import { createBookChannel } from '../channels/book.ts'
import { createCandlesChannel } from '../channels/candles.ts'
import { createPricesChannel } from '../channels/prices.ts'
import { createTradesChannel } from '../channels/trades.ts'
import type { Channels } from '../channel.ts'
import type { PublicSources } from './publicSources.ts'
import type { StreamCounts } from '../streamCounts.ts'

/** The channels of one chain that need no credentials. */
export type PublicChannels = Pick<Channels, 'prices' | 'book' | 'trades' | 'candles'> & { close(): void }

export function createPublicChannels(sources: PublicSources, { channels: counts }: StreamCounts): PublicChannels {
  const prices = createPricesChannel(sources, counts.prices)
  const book = createBookChannel(sources, counts.book)
  const trades = createTradesChannel(sources, counts.trades)
  const candles = createCandlesChannel(sources, counts.candles)
  return {
    prices,
    book,
    trades,
    candles,
    close() {
      for (const channel of [prices, book, trades, candles]) channel.close()
    },
  }
}
