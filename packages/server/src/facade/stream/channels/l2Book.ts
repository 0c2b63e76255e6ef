import type { FacadeReads } from '../../facadeReads.ts'
import type { InfoRequest } from '../../info/infoRequest.ts'
import { l2Book } from '../../info/l2Book.ts'
import { channelText } from '../facadeTexts.ts'
import type { Telling } from '../liveValue.ts'

/** A book as `/info` answers it. */
interface Book {
  readonly coin: string
  readonly time: number
  readonly levels: readonly [bids: readonly unknown[], asks: readonly unknown[]]
}

/** The whole book of a coin. */
export function l2BookTelling(reads: FacadeReads): (request: InfoRequest) => Telling | undefined {
  return (request) => {
    const book = bookOf(request, reads)
    return book && { key: JSON.stringify(book.levels), text: channelText('l2Book', JSON.stringify(book)) }
  }
}

/** Its best prices, `null` on a side that is empty. */
export function bboTelling(reads: FacadeReads): (request: InfoRequest) => Telling | undefined {
  return (request) => {
    const book = bookOf(request, reads)
    if (book === undefined) return undefined
    const { coin, time, levels } = book
    const bbo = levels.map((side) => side[0] ?? null)
    return { key: JSON.stringify(bbo), text: channelText('bbo', JSON.stringify({ coin, time, bbo })) }
  }
}

function bookOf(request: InfoRequest, reads: FacadeReads): Book | undefined {
  return (l2Book(request, reads) as Book | null) ?? undefined
}
