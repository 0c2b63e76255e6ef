import type { Address } from 'viem'
import type { DevAccount } from '../../../packages/devnet/src/deploy/accounts.ts'
import type { PendingOrder } from './codec.ts'
import type { Coverage } from './coverage.ts'
import type { Ground, Receipt } from './ground.ts'
import { MARKETS, movedBy } from './market.ts'
import type { Random } from './random.ts'
import type { Snapshot } from './snapshot.ts'

/** The state that actions read and choose from. */
export type Campaign = {
  ground: Ground
  random: Random
  coverage: Coverage
  /** State of the Diamond after the last step. */
  snapshot: Snapshot
  /** Price of each pair, 1e10. */
  prices: Map<number, bigint>
  /** Delegates by trader. */
  delegates: Map<Address, DevAccount>
  /** Number of attempts of each forbidden thing, by its index in the list. */
  attempts: Map<number, number>
  /** Every price request so far, by the key of its order. */
  requests: Map<string, Request>
}

/** A price request, and the indexes of the oracles that have answered it. */
export type Request = { order: PendingOrder; createdTs: number; answeredBy: Set<number> }

/** The effects of a step on the chain. */
export type Step = {
  receipts: Receipt[]
  /** Newly minted tokens, for which the Diamond emits no event. */
  minted?: { trader: Address; collateralIndex: number; amount: bigint }
  /** Set for a step that must change nothing: the errors its transactions may fail with, or `ok`. */
  mustEndWith?: readonly string[]
}

/** One kind of step. `run` returns undefined when there is nothing to apply it to. */
export type Action = {
  name: string
  weight: number
  run(campaign: Campaign): Promise<Step | undefined>
}

export function priceOf(campaign: Campaign, pairIndex: number): bigint {
  return campaign.prices.get(pairIndex)!
}

/** Sets a pair's price, within a range in which every number of the Diamond stays reachable. */
export function movePrice(campaign: Campaign, pairIndex: number, price: bigint): void {
  const { startPrice } = MARKETS.find((market) => market.pairIndex === pairIndex)!
  const lowest = startPrice / 8n
  const highest = startPrice * 8n
  campaign.prices.set(pairIndex, price < lowest ? lowest : price > highest ? highest : price)
}

/** Moves every price a little, as between two blocks. */
export function drift(campaign: Campaign): void {
  for (const { pairIndex, liveliness } of MARKETS) {
    const ppm = campaign.random.int(-1_500, 1_500) * liveliness
    movePrice(campaign, pairIndex, movedBy(priceOf(campaign, pairIndex), ppm))
  }
}
