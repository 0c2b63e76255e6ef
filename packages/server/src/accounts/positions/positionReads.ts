import type { LivePosition } from '../../trading/positions/livePosition.ts'
import type { Address, Position } from '@bezel/protocol'
import { keptBytes } from '../../ground/keptBytes.ts'
import type { ChainMarkets } from '../../trading/market/chainMarkets.ts'
import type { Freshness } from '../../market/freshness.ts'
import { notReady, type NotReadyReason } from '../../ground/notReady.ts'
import type { FeedPrices } from '../../trading/valuation/positionValue.ts'
import type { LivePositions } from './livePositions.ts'
import { pairOf, positionAnswer, valuationTimeS } from '../../trading/positions/positionAnswer.ts'

/** A chain's open positions as the interface shows them, valued now. Throws `NOT_READY` where that is not possible. */
export interface PositionReads {
  /** Oldest first. */
  ofTrader(trader: Address): Position[]
  /** `{"data": Position[]}` of the same, as bytes. */
  listOf(trader: Address): Buffer
  /** Of one position, also of one as it is going to be. */
  answer(position: LivePosition): Position
}

export interface PositionReadsOptions {
  readonly live: Pick<LivePositions, 'ofTrader'>
  readonly freshness: Pick<Freshness, 'loaded' | 'quote'>
  /** The last followed block. */
  readonly head: () => { readonly timestampMs: number } | undefined
  /** Why the followed state can't be trusted now. */
  readonly followerReason: () => NotReadyReason | undefined
  /** Grows with every change of a price. */
  readonly priceVersion: () => number
  readonly now: () => number
}

/** A valuation, and everything it was made from besides the position itself. */
interface Valuation {
  readonly chain: ChainMarkets
  readonly timestampS: number
  readonly mark: bigint
  readonly index: bigint
  readonly text: string
}

/** What the bytes of a trader's list were made from: the same objects mean the same bytes. */
interface List {
  readonly valuations: readonly Valuation[]
  readonly bytes: Buffer
  /** While all of this is so, there is nothing new. */
  readonly chain: ChainMarkets
  readonly timestampS: number
  readonly priceVersion: number
  readonly goodUntilMs: number
}

/** A price goes stale by the clock alone: that is noticed this much later at most. */
const LIST_MS = 50

const EMPTY_LIST = Buffer.from('{"data":[]}')

/**
 * Valuations are kept until a price, a block or the markets change, and so are whole lists: a client that polls costs a comparison per
 * position and not a valuation. They hang on the position and on the trader's array, both of which are replaced with every change.
 */
export function createPositionReads(options: PositionReadsOptions): PositionReads {
  const { live, freshness, head, followerReason } = options
  const valuations = new WeakMap<LivePosition, Valuation>()
  const lists = new WeakMap<readonly LivePosition[], List>()

  function requireFollower(): void {
    const reason = followerReason()
    if (reason !== undefined) throw notReady(reason)
  }

  function valuationOf(position: LivePosition, chain: ChainMarkets, atS: number): Valuation {
    const prices = pricesOf(freshness, position, chain)
    const { mark, index } = prices
    const known = valuations.get(position)
    if (known?.chain === chain && known.timestampS === atS && known.mark === mark && known.index === index) return known
    const text = JSON.stringify(valueOf(position, chain, prices, atS))
    const made = { chain, timestampS: atS, mark, index, text }
    valuations.set(position, made)
    return made
  }

  function isGood(list: List, chain: ChainMarkets, atS: number): boolean {
    return (
      list.chain === chain &&
      list.timestampS === atS &&
      list.priceVersion === options.priceVersion() &&
      options.now() < list.goodUntilMs
    )
  }

  /** Looks at every price; the bytes stay what they are when none of them moved. */
  function makeList(positions: readonly LivePosition[], chain: ChainMarkets, atS: number): List {
    const [priceVersion, goodUntilMs] = [options.priceVersion(), options.now() + LIST_MS]
    const made = positions.map((position) => valuationOf(position, chain, atS))
    const known = lists.get(positions)
    const isSame = known !== undefined && made.every((valuation, at) => valuation === known.valuations[at])
    const bytes = isSame ? known.bytes : keptBytes(`{"data":[${made.map(({ text }) => text).join(',')}]}`)
    const list = { valuations: made, bytes, chain, timestampS: atS, priceVersion, goodUntilMs }
    lists.set(positions, list)
    return list
  }

  function answer(position: LivePosition): Position {
    requireFollower()
    const chain = freshness.loaded()
    return valueOf(position, chain, pricesOf(freshness, position, chain), valuationTimeS(chain, head()))
  }

  return {
    answer,
    ofTrader(trader) {
      requireFollower()
      return live.ofTrader(trader).map(answer)
    },
    listOf(trader) {
      requireFollower()
      const positions = live.ofTrader(trader)
      if (positions.length === 0) return EMPTY_LIST
      const chain = freshness.loaded()
      const atS = valuationTimeS(chain, head())
      const known = lists.get(positions)
      if (known !== undefined && isGood(known, chain, atS)) return known.bytes
      return makeList(positions, chain, atS).bytes
    },
  }
}

function pricesOf(freshness: Pick<Freshness, 'quote'>, position: LivePosition, chain: ChainMarkets): FeedPrices {
  const pair = pairOf(position, chain)
  // A pair that was listed moments ago: the listing is read again before long.
  if (pair === undefined) throw notReady('starting')
  return freshness.quote(pair)
}

function valueOf(position: LivePosition, chain: ChainMarkets, prices: FeedPrices, timestampS: number): Position {
  const answer = positionAnswer(position, chain, prices, timestampS)
  if (answer === undefined) throw notReady('starting')
  return answer
}
