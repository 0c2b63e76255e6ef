import type { CollateralPrice, Price } from '@bezel/protocol'
import type { ChainBlock, ChainTransaction } from '../chain/blocks.ts'
import { isSettingTopic } from '../chain/marketEvents.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { assembleMarkets, withTraded } from './listing/assembleMarkets.ts'
import { foldTraded, valuesUnder, withValues, type FoldSettings, type TradedState } from './listing/foldTraded.ts'
import { PACE_BLOCKS, paceOf, type ChainListing } from './listing/readListing.ts'
import { momentOf, type MarketState } from './listing/readState.ts'

/** The part of a block that markets depend on. */
export interface MarketBlock extends Pick<ChainBlock, 'block'> {
  readonly transactions: readonly Pick<ChainTransaction, 'marketEvents' | 'topics' | 'undecoded'>[]
}

/**
 * The markets of a chain, read once at a block and kept up to date by the events of the blocks that follow. Does no
 * I/O.
 */
export interface FoldedMarkets {
  readonly listing: ChainListing
  markets(): ChainMarkets
  /** Returns the values that events tell, and the block as of which they are. */
  seen(): SeenState
  /** Returns true once the block that was read is one of the followed ones, so that nothing in between is missing. */
  isInStep(): boolean
  /**
   * Takes a followed block into account. Returns false when the markets must be read anew at this block: it does not
   * follow on the one that was read, or it changes settings. All later calls then return false too.
   */
  follow(block: MarketBlock): boolean
  /** Takes back all blocks after this one. Returns false when the markets must be read anew, as `follow` does. */
  undoTo(head: FollowedBlock): boolean
  /** Replaces values by those that the chain has. */
  correct(values: TradedState): void
  /** Makes every later call of `follow` and `undoTo` return false: the settings are not those of the chain. */
  giveUp(): void
  /** Takes over the values that no event tells. */
  setPrices(prices: readonly CollateralPrice[], references: ReadonlyMap<number, Price>): void
}

/** The values that events tell, as of a block. */
export interface SeenState {
  readonly block: FollowedBlock
  readonly traded: TradedState
  /** Number of times that blocks were undone. When it has grown, the block may be gone. */
  readonly undone: number
}

export interface FoldedMarketsOptions {
  readonly listing: ChainListing
  readonly state: MarketState
  readonly references: ReadonlyMap<number, Price>
  /** The block at which the listing and the state were read. */
  readonly block: FollowedBlock
  /** True when that block is the last followed one. Otherwise the follower is still before it. */
  readonly isFollowed: boolean
  /** Returns the newest block that is never undone, as seen from a block. */
  readonly lastFinal: (head: number) => number
  /** Called when anything but the moment has changed. */
  readonly onChange: () => void
  /** Called when a step fails, after which the markets must be read anew. */
  readonly onFailure: (error: unknown) => void
}

export function createFoldedMarkets(options: FoldedMarketsOptions): FoldedMarkets {
  const { listing, block: base, onChange } = options
  const settings = foldSettingsOf(listing)
  const pace = createPace(base, listing.blocksPerHour)
  const values = createUndoableValues(options.state.traded, options, (changed) => {
    markets = withTraded(markets, listing, values.current(), changed)
    onChange()
  })
  let markets = assembleMarkets(listing, options.state, options.references, momentOf(base))
  let head = base
  let isInStep = options.isFollowed
  let mustBeRead = false

  function moveTo(block: FollowedBlock): void {
    head = block
    markets = { ...markets, moment: momentOf(block), blocksPerHour: pace.at(block) }
  }

  function follow({ block, transactions }: MarketBlock): boolean {
    if (!isInStep) {
      if (block.number < head.number) return true
      if (block.hash !== head.hash && block.parentHash !== head.hash) return false
      isInStep = true
    }
    if (block.hash === head.hash) return true
    if (block.number <= head.number && !values.undoAfter(block.number - 1)) return false
    const events = transactions.flatMap(({ marketEvents }) => marketEvents)
    values.apply(block.number, events.length === 0 ? undefined : foldTraded(values.current(), events, settings))
    moveTo(block)
    return !transactions.some(mayChangeSettings)
  }

  function undoTo(block: FollowedBlock): boolean {
    // The follower is still before the block that was read, or has undone nothing that is known here.
    if (!isInStep || block.number >= head.number) return true
    if (!values.undoAfter(block.number)) return false
    moveTo(block)
    return true
  }

  function unlessGivenUp(step: () => boolean): boolean {
    try {
      mustBeRead ||= !step()
    } catch (error) {
      mustBeRead = true
      options.onFailure(error)
    }
    return !mustBeRead
  }

  return {
    listing,
    markets: () => markets,
    seen: () => ({ block: head, traded: values.current(), undone: values.undone() }),
    isInStep: () => isInStep && !mustBeRead,
    follow: (block) => unlessGivenUp(() => follow(block)),
    undoTo: (block) => unlessGivenUp(() => undoTo(block)),
    correct: values.replace,
    giveUp() {
      mustBeRead = true
    },
    setPrices(prices, references) {
      const isSame = markets.collaterals.every(({ state }, at) => state.priceUsd === prices[at])
      // The reference price of a pair never changes, so another one is one more.
      if (isSame && references.size === markets.referencePrices.size) return
      const { blocksPerHour } = markets
      const state = { prices, traded: values.current() }
      markets = { ...assembleMarkets(listing, state, references, momentOf(head)), blocksPerHour }
      onChange()
    },
  }
}

/** The values that trades change, and what is needed to take back the blocks that are not final. */
interface UndoableValues {
  current(): TradedState
  /** Returns the number of times that blocks were undone. */
  undone(): number
  replace(changed: TradedState): void
  /** Replaces what a block changed, and forgets what final blocks replaced. */
  apply(number: number, changed: TradedState | undefined): void
  /** Takes back the blocks after one number. Returns false when the block that was read is among them. */
  undoAfter(number: number): boolean
}

function createUndoableValues(
  start: TradedState,
  { block: base, lastFinal }: Pick<FoldedMarketsOptions, 'block' | 'lastFinal'>,
  onReplaced: (changed: TradedState) => void,
): UndoableValues {
  let traded = start
  let undone = 0
  /** Values that blocks replaced, oldest block first. */
  let undos: { readonly number: number; readonly values: TradedState }[] = []

  function replace(changed: TradedState): void {
    traded = withValues(traded, changed)
    onReplaced(changed)
  }

  return {
    current: () => traded,
    undone: () => undone,
    replace,
    apply(number, changed) {
      const final = lastFinal(number)
      if (undos[0] !== undefined && undos[0].number <= final) undos = undos.filter((undo) => undo.number > final)
      if (changed === undefined) return
      undos.push({ number, values: valuesUnder(traded, changed) })
      replace(changed)
    },
    undoAfter(number) {
      if (number < base.number) return false
      undone += 1
      for (let last = undos.at(-1); last !== undefined && last.number > number; last = undos.at(-1)) {
        undos.pop()
        replace(last.values)
      }
      return true
    },
  }
}

/** Measures the number of blocks in an hour on the followed blocks; until then it is the one that was read. */
function createPace(base: FollowedBlock, read: number): { at(block: FollowedBlock): number } {
  let from = base
  let blocksPerHour = read
  return {
    at(block) {
      const blocks = block.number - from.number
      if (blocks >= PACE_BLOCKS) {
        blocksPerHour = paceOf(blocks, (block.timestampMs - from.timestampMs) / 1_000)
        from = block
      }
      return blocksPerHour
    },
  }
}

function foldSettingsOf({ windows, collaterals }: ChainListing): FoldSettings {
  return { windows, precisions: new Map(collaterals.map(({ index, precision }) => [index, precision])) }
}

/** Returns true for a transaction that may have changed settings, or whose events could not all be read. */
function mayChangeSettings({ topics, undecoded }: MarketBlock['transactions'][number]): boolean {
  return undecoded.length > 0 || topics.some(isSettingTopic)
}
