import type { Address, MarketSymbol } from '@bezel/protocol'
import type { Hex } from 'viem'
import { createCallRound, type CallRound, type Later } from '../../chain/callRound.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { OiWindowsSettings } from '../../trading/valuation/chainState.ts'
import type { BandWords } from '../../trading/valuation/depthBands.ts'
import type { ListedPair } from '../../trading/market/chainMarkets.ts'
import { isTradable, namePair, type NamedPair } from './namedPair.ts'
import { readCollaterals, type DiamondCollateral, type ScaledCollateral } from './readCollaterals.ts'
import { readPairListings } from './readPairListings.ts'
import { readPairTerms, type PairTerms } from './readPairTerms.ts'

/** The part of a chain's markets that changes by governance alone. */
export interface ChainListing {
  readonly collaterals: readonly ScaledCollateral[]
  /** Those that can be traded, and those in which positions are still open. */
  readonly pairs: readonly ListedPair[]
  readonly symbols: ReadonlyMap<number, MarketSymbol>
  /** By collateral index, by pair index. */
  readonly terms: ReadonlyMap<number, ReadonlyMap<number, PairTerms>>
  readonly windows: OiWindowsSettings
  readonly marketOrdersTimeoutBlocks: number
  readonly triggerTimeoutBlocks: number
}

export interface DiamondAt {
  readonly client: RpcClient
  readonly diamond: Address
  readonly block: Hex
}

/** Three rounds of calls: what there is, what it is called and whether it is in use, and the details of what is. */
export async function readListing({ client, diamond, block }: DiamondAt): Promise<ChainListing> {
  const newRound = (): CallRound => createCallRound(client, diamond, block)
  const frame = await readFrame(newRound())
  const { collaterals, named, inUse } = await readNames(newRound(), frame, block)

  const details = newRound()
  const kept = named.filter((pair) => isTradable(pair) || inUse.has(pair.pairIndex))
  const indices = kept.map(({ pairIndex }) => pairIndex)
  const pairs = readPairListings(details, kept, frame.offsets)
  const terms = collaterals.map((collateral) => readPairTerms(details, collateral, indices))
  await details.run()
  return {
    collaterals,
    pairs: pairs(),
    symbols: new Map(named.map(({ pairIndex, symbol }) => [pairIndex, symbol])),
    terms: new Map(collaterals.map(({ index }, at) => [index, terms[at]!()])),
    windows: frame.windows,
    marketOrdersTimeoutBlocks: frame.marketOrdersTimeoutBlocks,
    triggerTimeoutBlocks: frame.triggerTimeoutBlocks,
  }
}

interface Frame {
  readonly pairsCount: number
  readonly groupsCount: number
  readonly feesCount: number
  readonly customMaxLeverages: readonly bigint[]
  readonly collaterals: readonly DiamondCollateral[]
  readonly offsets: BandWords
  readonly windows: OiWindowsSettings
  readonly marketOrdersTimeoutBlocks: number
  readonly triggerTimeoutBlocks: number
}

async function readFrame(round: CallRound): Promise<Frame> {
  const pairsCount = round.view('pairsCount', [])
  const groupsCount = round.view('groupsCount', [])
  const feesCount = round.view('feesCount', [])
  const customMaxLeverages = round.view('getAllPairsRestrictedMaxLeverage', [])
  const collaterals = round.view('getCollaterals', [])
  const offsets = round.view('getDepthBandsMapping', [])
  const windows = round.view('getOiWindowsSettings', [])
  const marketOrdersTimeoutBlocks = round.view('getMarketOrdersTimeoutBlocks', [])
  const triggerTimeoutBlocks = round.view('getTriggerTimeoutBlocks', [])
  await round.run()
  const [slot1, slot2] = offsets()
  return {
    pairsCount: Number(pairsCount()),
    groupsCount: Number(groupsCount()),
    feesCount: Number(feesCount()),
    customMaxLeverages: customMaxLeverages(),
    collaterals: collaterals(),
    offsets: { slot1, slot2 },
    windows: windows(),
    marketOrdersTimeoutBlocks: marketOrdersTimeoutBlocks(),
    triggerTimeoutBlocks: triggerTimeoutBlocks(),
  }
}

interface Names {
  readonly collaterals: readonly ScaledCollateral[]
  readonly named: readonly NamedPair[]
  /** Pairs with open interest in any collateral. */
  readonly inUse: ReadonlySet<number>
}

async function readNames(round: CallRound, frame: Frame, block: Hex): Promise<Names> {
  const collaterals = readCollaterals(round, frame.collaterals, block)
  const pairIndices = Array.from({ length: frame.pairsCount }, (_, index) => index)
  const pairs = pairIndices.map((index) => round.view('pairs', [BigInt(index)]))
  const groups = Array.from({ length: frame.groupsCount }, (_, index) => round.view('groups', [BigInt(index)]))
  const fees = Array.from({ length: frame.feesCount }, (_, index) => round.view('fees', [BigInt(index)]))
  const interests = frame.collaterals.map((_, at) => readInterest(round, at + 1, pairIndices))
  await round.run()
  const groupList = groups.map((group) => group())
  const feeList = fees.map((fee) => fee())
  const named = pairs.map((pair, index) =>
    namePair(index, pair(), frame.customMaxLeverages[index] ?? 0n, groupList, feeList),
  )
  return {
    collaterals: collaterals(),
    named: named.filter((pair) => pair !== undefined),
    inUse: new Set(interests.flatMap((interest) => interest())),
  }
}

/**
 * Pairs with open interest in one collateral. Trades from before v10 are not asked for: they have no view that takes many pairs, and one that
 * is still open on a pair closed to trading is the rarest thing.
 */
function readInterest(round: CallRound, collateralIndex: number, pairIndices: readonly number[]): Later<number[]> {
  const tokens = round.view('getPairOisAfterV10Token', [pairIndices.map(() => collateralIndex), pairIndices])
  return () => {
    const found = tokens()
    return pairIndices.filter((_, at) => found[at]!.oiLongToken > 0n || found[at]!.oiShortToken > 0n)
  }
}
