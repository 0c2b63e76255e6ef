import type { Prices } from '../prices.ts'

/** `GET /market-status`: whether each pair trades now, by pair index. The live feed has no such page; services prefer it where it exists. */
export function marketStatus(prices: Prices): object {
  return Object.fromEntries(prices.pairs.map(({ index }) => [index, prices.isOpen(index)]))
}
