import { numberToHex } from 'viem'
import type { Address, Price } from '@bezel/protocol'
import { blockCall, parseBlock, resultOf } from '../chain/blocks.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { differencesOf, isSameListing, placeNames, stillUnder } from './compareState.ts'
import type { FoldedMarkets } from './foldedMarkets.ts'
import { readListing, type ChainListing } from './listing/readListing.ts'
import { momentOf, readState } from './listing/readState.ts'

/** Rounds that read what no event tells of markets, and compare what events told of a few pairs with the chain. */
export interface CompareRounds {
  /**
   * Runs one round: takes over the prices of collaterals and corrects values that differ. Where settings differ, the
   * markets are given up. Throws `NodeUnavailableError`.
   */
  run(known: FoldedMarkets): Promise<void>
  /** Returns the number of places so far that were not as the events told. */
  differences(): number
  /** Returns one sentence about the last difference; `undefined` once all pairs were compared again without one. */
  warning(): string | undefined
}

/** Values that the chain has otherwise than its events told. */
export interface MarketsDifference {
  readonly block: number
  /** Names of the places, or `settings`. */
  readonly places: readonly string[]
}

export interface CompareRoundsOptions {
  readonly client: RpcClient
  readonly diamond: Address
  readonly readReferences: (listing: ChainListing) => Promise<ReadonlyMap<number, Price>>
  /** Returns false when the markets were replaced by others meanwhile. */
  readonly isCurrent: (known: FoldedMarkets) => boolean
  readonly onDifference: (difference: MarketsDifference) => void
}

/**
 * Number of pairs whose state one round compares: with four collaterals as many as one call of Multicall3 takes. All of
 * 340 have their turn in twenty minutes, at ten seconds a round.
 */
const PAIRS_PER_ROUND = 3

/** The number of rounds per comparison of the settings: an hour, at ten seconds a round. */
const ROUNDS_PER_LISTING = 360

export function createCompareRounds(options: CompareRoundsOptions): CompareRounds {
  const { client, diamond } = options
  const turn = createTurn()
  let differences = 0
  /** Number of pairs compared so far. */
  let compared = 0
  let warning: { readonly text: string; readonly untilPair: number } | undefined

  function differ({ number: block }: FollowedBlock, places: readonly string[], { pairs }: ChainListing): void {
    differences += places.length
    const text = `At block ${block} the chain had other values than its events told, which were corrected: ${places.join(', ')}.`
    warning = { text, untilPair: compared + pairs.length }
    options.onDifference({ block, places })
  }

  async function run(known: FoldedMarkets): Promise<void> {
    const { listing } = known
    const seen = known.seen()
    const at = { client, diamond, block: numberToHex(seen.block.number) }
    const moment = momentOf(seen.block)
    const few = turn.next(listing.pairs.map(({ pairIndex }) => pairIndex))
    const read = await readState(at, listing, moment, few)
    const references = await options.readReferences(listing)
    const others = differencesOf(seen.traded, read.traded, listing, moment)
    const isOther = turn.isListingDue() && !isSameListing(listing, await readListing(at))
    // A difference says nothing when the values are those of another block of the same number.
    const isDoubted = (others !== undefined || isOther) && !(await isOnChain(client, seen.block))
    if (isDoubted || !options.isCurrent(known) || known.seen().undone !== seen.undone) return
    known.setPrices(read.prices, references)
    compared += few.length
    if (others !== undefined) {
      known.correct(stillUnder(others, seen.traded, known.seen().traded))
      differ(seen.block, placeNames(others, listing), listing)
    }
    if (!isOther) return
    known.giveUp()
    differ(seen.block, ['settings'], listing)
  }

  return {
    run,
    differences: () => differences,
    warning: () => (warning !== undefined && compared <= warning.untilPair ? warning.text : undefined),
  }
}

/** Returns true when the node has this block under its number. Throws `NodeUnavailableError`. */
export async function isOnChain(client: RpcClient, { number, hash }: FollowedBlock): Promise<boolean> {
  const [outcome] = await client.batch([blockCall(number, false)])
  return parseBlock(resultOf(outcome))?.block.hash === hash
}

interface Turn {
  /** Returns the pairs whose turn it is. */
  next(pairs: readonly number[]): readonly number[]
  isListingDue(): boolean
}

/** Goes through all pairs, a few at a time. */
function createTurn(): Turn {
  let next = 0
  let rounds = 0
  return {
    next(pairs) {
      rounds += 1
      const from = next < pairs.length ? next : 0
      next = from + PAIRS_PER_ROUND
      return pairs.slice(from, next)
    },
    isListingDue: () => rounds % ROUNDS_PER_LISTING === 0,
  }
}
