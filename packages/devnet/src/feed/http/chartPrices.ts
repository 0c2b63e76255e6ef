import { FeedInputError, priceNumber } from '../price.ts'
import type { Prices } from '../prices.ts'
import { wholeNumber } from './wholeNumber.ts'

/** `GET /charts/prices?from=gTrade&pairs=0,1`: the mark of each pair asked for, by pair index. */
export function chartPrices(prices: Prices, query: URLSearchParams): object {
  if (query.get('from') !== 'gTrade') throw new FeedInputError('"from" must be gTrade.')
  const asked = (query.get('pairs') ?? '').split(',')
  if (asked.length > prices.pairs.length)
    throw new FeedInputError(`At most ${prices.pairs.length} pairs are answered at once.`)
  const indices = asked.map((text) => wholeNumber('pairs', text))
  return Object.fromEntries(indices.map((index) => [index, priceNumber(prices.quote(index).mark)]))
}
