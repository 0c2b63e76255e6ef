import type { Channels } from '../channel.ts'
import type { StreamCounts } from '../streamCounts.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import { createBookChannel } from './book.ts'
import { createCandlesChannel } from './candles.ts'
import { createLogChannels, type LogChannelsOptions } from './logChannels.ts'
import { createPricesChannel } from './prices.ts'
import { createTradesChannel } from './trades.ts'

export interface StreamChannelsOptions {
  /** The sources of the public channels. */
  readonly sources: PublicSources
  /** The sources of the private channels. */
  readonly log: Omit<LogChannelsOptions, 'counts'>
  readonly counts: StreamCounts
}

/** Opens all channels of one chain, by the names that clients subscribe to. */
export function createStreamChannels({ sources, log, counts }: StreamChannelsOptions): Channels & { close(): void } {
  const open = createPublicChannels(sources, counts)
  const ofTraders = createLogChannels({ ...log, counts })
  return {
    prices: open.prices,
    book: open.book,
    trades: open.trades,
    candles: open.candles,
    orders: ofTraders.orders,
    fills: ofTraders.fills,
    positions: ofTraders.positions,
    account: ofTraders.account,
    close() {
      open.close()
      ofTraders.close()
    },
  }
}

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
