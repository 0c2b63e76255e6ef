import type { Address } from 'viem'
import type { DevAccount } from '../../../packages/devnet/src/deploy/accounts.ts'
import type { PendingOrder } from './codec.ts'
import type { Coverage } from './coverage.ts'
import type { Ground, Receipt } from './ground.ts'
import { MARKETS, movedBy } from './market.ts'
import type { Random } from './random.ts'
import type { Snapshot } from './snapshot.ts'

/** What the actions know and choose from. */
export type Campaign = {
  ground: Ground
  random: Random
  coverage: Coverage
  /** As of the end of the last step. */
  snapshot: Snapshot
  /** Of each pair, 1e10. */
  prices: Map<number, bigint>
  /** Who acts for whom. */
  delegates: Map<Address, DevAccount>
  /** How often each forbidden thing was tried, by position in the list. */
  attempts: Map<number, number>
  /** Every price request there ever was, by the key of its order. */
  requests: Map<string, Request>
}

/** A price request and which oracles, by position, have answered it. */
export type Request = { order: PendingOrder; createdTs: number; answeredBy: Set<number> }

/** What a step did to the chain. */
export type Step = {
  receipts: Receipt[]
  /** New tokens, which no event of the Diamond tells of. */
  minted?: { trader: Address; collateralIndex: number; amount: bigint }
  /** Set for a step that must come to nothing: the errors its transactions may fail with, or `ok`. */
  mustEndWith?: readonly string[]
}

/** One kind of thing that can happen. Gives undefined when there is nothing to do it to. */
export type Action = {
  name: string
  weight: number
  run(campaign: Campaign): Promise<Step | undefined>
}

export function priceOf(campaign: Campaign, pairIndex: number): bigint {
  return campaign.prices.get(pairIndex)!
}

/** Moves a pair's price, but not out of a range that keeps every number of the Diamond reachable. */
export function movePrice(campaign: Campaign, pairIndex: number, price: bigint): void {
  const { startPrice } = MARKETS.find((market) => market.pairIndex === pairIndex)!
  const lowest = startPrice / 8n
  const highest = startPrice * 8n
  campaign.prices.set(pairIndex, price < lowest ? lowest : price > highest ? highest : price)
}

/** Every price takes a small step, as between two blocks. */
export function drift(campaign: Campaign): void {
  for (const { pairIndex, liveliness } of MARKETS) {
    const ppm = campaign.random.int(-1_500, 1_500) * liveliness
    movePrice(campaign, pairIndex, movedBy(priceOf(campaign, pairIndex), ppm))
  }
}
