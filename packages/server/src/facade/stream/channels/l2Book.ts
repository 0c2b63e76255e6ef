import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { bookPrecision, l2BookOf, type BookPrecision } from '../../info/l2Book.ts'
import { channelText, requiredCoin, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createCoinValues } from './liveValues.ts'

const FINEST: BookPrecision = { nSigFigs: null, mantissa: null }

/** Creates the channel of a coin's whole book, as `/info` answers it. */
export function createL2Book(sources: FacadeStreamSources, counts: ChannelCounts): FacadeChannel {
  const { reads } = sources
  const books = createCoinValues<BookPrecision>({
    ...sources,
    counts,
    read(coin, precision) {
      const book = l2BookOf({ coin, ...precision }, reads)
      return book === null
        ? undefined
        : { key: JSON.stringify(book.levels), text: channelText('l2Book', JSON.stringify(book)) }
    },
  })
  return {
    parse(body) {
      const coin = requiredCoin(body, reads)
      const precision = bookPrecision(body)
      return {
        key: JSON.stringify({ coin: coin.name, ...precision }),
        open: (connection) => books.subscribe(connection, coin, precision),
      }
    },
    close: books.close,
  }
}

/** Creates the channel of the best bid and ask of a coin's book. A side that is empty is `null`. */
export function createBbo(sources: FacadeStreamSources, counts: ChannelCounts): FacadeChannel {
  const { reads } = sources
  const bests = createCoinValues<null>({
    ...sources,
    counts,
    read(coin) {
      const book = l2BookOf({ coin, ...FINEST }, reads)
      if (book === null) return undefined
      const { time, levels } = book
      const bbo = levels.map((side) => side[0] ?? null)
      return { key: JSON.stringify(bbo), text: channelText('bbo', JSON.stringify({ coin: book.coin, time, bbo })) }
    },
  })
  return {
    parse(body) {
      const coin = requiredCoin(body, reads)
      return { key: coin.name, open: (connection) => bests.subscribe(connection, coin, null) }
    },
    close: bests.close,
  }
}
