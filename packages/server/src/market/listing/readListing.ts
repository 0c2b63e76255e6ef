import {
  parseAddress,
  PercentP,
  TokenSize,
  Usd,
  WholeCollateral,
  type Address,
  type MarketSymbol,
} from '@bezel/protocol'
import { type Hex, decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem'
import { blockCall, quantity, resultOf } from '../../chain/blocks.ts'
import { createCallRound, type CallRound, type Later, type DiamondCall } from '../../chain/diamondCalls.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import {
  NO_OLD_BORROWING,
  type BorrowingData,
  type BorrowingPairGroup,
  type OiWindowsSettings,
  type OldBorrowing,
  type PairListing,
  type PairState,
} from '../../trading/valuation/chainState.ts'
import { type BandWords, decodeDepthBook } from '../../trading/valuation/depthBands.ts'
import type { ListedPair, ListedCollateral } from '../../trading/market/chainMarkets.ts'
import { isTradable, namePair, type NamedPair } from './namedPair.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'

/** A collateral as the Diamond's view `getCollaterals` returns it. Its index is its place in that list plus one. */
interface DiamondCollateral {
  readonly collateral: Hex
  readonly isActive: boolean
  readonly precision: bigint
  readonly precisionDelta: bigint
}

/** A collateral with the scales the Diamond counts it in. */
type ScaledCollateral = ListedCollateral & Pick<DiamondCollateral, 'precision' | 'precisionDelta'>

/** The part of a pair's state that only governance changes. `readState` reads the rest. */
export type PairTerms = Pick<PairState, 'fundingParams' | 'borrowingParams' | 'skewDepth' | 'maxOi' | 'maxSkew'> & {
  readonly oldBorrowing: Pick<OldBorrowing, 'feePerBlockCap' | 'pairGroups'> & {
    readonly feePerBlock: number
    readonly feeExponent: number
  }
}

/** Factor from thousandths of a USD, in which a fee group's smallest position size is given, to 1e18. */
const E3_TO_E18 = 10n ** 15n

/** The part of a chain's markets that only governance changes. */
export interface ChainListing {
  readonly collaterals: readonly ScaledCollateral[]
  /** The pairs that can be traded, and those in which positions are still open. */
  readonly pairs: readonly ListedPair[]
  readonly symbols: ReadonlyMap<number, MarketSymbol>
  /** Terms by collateral index, then by pair index. */
  readonly terms: ReadonlyMap<number, ReadonlyMap<number, PairTerms>>
  readonly windows: OiWindowsSettings
  /** Number of blocks in an hour, measured on the last `PACE_BLOCKS`. */
  readonly blocksPerHour: number
  readonly marketOrdersTimeoutBlocks: number
  readonly triggerTimeoutBlocks: number
  readonly govFeeP: number
  readonly negPnlCumulVolMultiplier: number
  readonly tradingActivated: number
}

export interface DiamondAt {
  readonly client: RpcClient
  readonly diamond: Address
  readonly block: Hex
}

/**
 * Reads the listing in three rounds of calls: counts and settings, then names and open interest, then the details of
 * the pairs in use.
 */
export async function readListing({ client, diamond, block }: DiamondAt): Promise<ChainListing> {
  const newRound = (): CallRound => createCallRound(client, diamond, block)
  const frame = await readFrame(newRound(), Number(block))
  const { collaterals, named, inUse, borrowing } = await readNames(newRound(), frame, block)

  const details = newRound()
  const kept = named.filter((pair) => isTradable(pair) || inUse.has(pair.pairIndex))
  const indices = kept.map(({ pairIndex }) => pairIndex)
  const pairs = readPairListings(details, kept, frame.offsets)
  const terms = collaterals.map((collateral, at) => readPairTerms(details, collateral, borrowing[at]!, indices))
  await details.run()
  return {
    collaterals,
    pairs: pairs(),
    symbols: new Map(named.map(({ pairIndex, symbol }) => [pairIndex, symbol])),
    terms: new Map(collaterals.map(({ index }, at) => [index, terms[at]!()])),
    windows: frame.windows,
    blocksPerHour: frame.blocksPerHour,
    marketOrdersTimeoutBlocks: frame.marketOrdersTimeoutBlocks,
    triggerTimeoutBlocks: frame.triggerTimeoutBlocks,
    govFeeP: frame.govFeeP,
    negPnlCumulVolMultiplier: frame.negPnlCumulVolMultiplier,
    tradingActivated: frame.tradingActivated,
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
  readonly blocksPerHour: number
  readonly marketOrdersTimeoutBlocks: number
  readonly triggerTimeoutBlocks: number
  readonly govFeeP: number
  readonly negPnlCumulVolMultiplier: number
  readonly tradingActivated: number
}

async function readFrame(round: CallRound, blockNumber: number): Promise<Frame> {
  const pairsCount = round.view('pairsCount', [])
  const groupsCount = round.view('groupsCount', [])
  const feesCount = round.view('feesCount', [])
  const customMaxLeverages = round.view('getAllPairsRestrictedMaxLeverage', [])
  const collaterals = round.view('getCollaterals', [])
  const offsets = round.view('getDepthBandsMapping', [])
  const windows = round.view('getOiWindowsSettings', [])
  const blocksPerHour = readPace(round, blockNumber)
  const marketOrdersTimeoutBlocks = round.view('getMarketOrdersTimeoutBlocks', [])
  const triggerTimeoutBlocks = round.view('getTriggerTimeoutBlocks', [])
  const feeShares = round.view('getGlobalTradeFeeParams', [])
  const negPnlCumulVolMultiplier = round.view('getNegPnlCumulVolMultiplier', [])
  const tradingActivated = round.view('getTradingActivated', [])
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
    blocksPerHour: blocksPerHour(),
    marketOrdersTimeoutBlocks: marketOrdersTimeoutBlocks(),
    triggerTimeoutBlocks: triggerTimeoutBlocks(),
    govFeeP: feeShares().govFeeP,
    negPnlCumulVolMultiplier: negPnlCumulVolMultiplier(),
    tradingActivated: tradingActivated(),
  }
}

/**
 * Number of blocks on which the pace of the chain is measured. The times of blocks are whole seconds, so that with four
 * blocks a second the pace is off by at most 0.4 %.
 */
export const PACE_BLOCKS = 1_000

const SECONDS_PER_HOUR = 3_600

/** Reads how many blocks the chain makes in an hour. A chain that has no past yet counts as one block a second. */
function readPace(round: CallRound, blockNumber: number): Later<number> {
  const from = Math.max(0, blockNumber - PACE_BLOCKS)
  const startS = round.add(blockTimeCall(from))
  const endS = round.add(blockTimeCall(blockNumber))
  return () => paceOf(blockNumber - from, endS() - startS())
}

/** Returns the number of blocks in an hour, of which some took this time. */
export function paceOf(blocks: number, elapsedS: number): number {
  return elapsedS <= 0 ? SECONDS_PER_HOUR : Math.round((blocks * SECONDS_PER_HOUR) / elapsedS)
}

/** A call for the time of a block, in seconds. */
function blockTimeCall(blockNumber: number): DiamondCall<number> {
  return {
    call: blockCall(blockNumber, false),
    decode: (outcome) => quantity((resultOf(outcome) as { readonly timestamp?: unknown } | null)?.timestamp),
  }
}

interface Names {
  readonly collaterals: readonly ScaledCollateral[]
  readonly named: readonly NamedPair[]
  /** Pairs with open interest in any collateral. */
  readonly inUse: ReadonlySet<number>
  /** First-generation borrowing, in the order of the collaterals. */
  readonly borrowing: readonly OldBorrowingPairs[]
}

/** First-generation borrowing of all pairs in one collateral, each list by pair index (getAllBorrowingPairs). */
type OldBorrowingPairs = readonly [
  data: readonly BorrowingData[],
  oiBeforeV10: readonly { readonly long: bigint; readonly short: bigint; readonly max: bigint }[],
  pairGroups: readonly (readonly BorrowingPairGroup[])[],
]

async function readNames(round: CallRound, frame: Frame, block: Hex): Promise<Names> {
  const collaterals = readCollaterals(round, frame.collaterals, block)
  const pairIndices = Array.from({ length: frame.pairsCount }, (_, index) => index)
  const pairs = pairIndices.map((index) => round.view('pairs', [BigInt(index)]))
  const groups = Array.from({ length: frame.groupsCount }, (_, index) => round.view('groups', [BigInt(index)]))
  const fees = Array.from({ length: frame.feesCount }, (_, index) => round.view('fees', [BigInt(index)]))
  const interests = frame.collaterals.map((_, at) => readInterest(round, at + 1, pairIndices))
  const borrowing = frame.collaterals.map((_, at) => round.view('getAllBorrowingPairs', [at + 1]))
  await round.run()
  const groupList = groups.map((group) => group())
  const feeList = fees.map((fee) => fee())
  const named = pairs.map((pair, index) =>
    namePair(index, pair(), frame.customMaxLeverages[index] ?? 0n, groupList, feeList),
  )
  return {
    collaterals: collaterals(),
    named: named.filter((pair) => pair !== undefined),
    inUse: new Set([
      ...interests.flatMap((interest) => interest()),
      ...borrowing.flatMap((pairsOf) => pairsInUseBeforeV10(pairsOf())),
    ]),
    borrowing: borrowing.map((pairsOf) => pairsOf()),
  }
}

function pairsInUseBeforeV10([, oiBeforeV10]: OldBorrowingPairs): number[] {
  return oiBeforeV10.flatMap(({ long, short }, pairIndex) => (long > 0n || short > 0n ? [pairIndex] : []))
}

/** Returns the pairs with open interest of trades of v10 and later in one collateral. */
function readInterest(round: CallRound, collateralIndex: number, pairIndices: readonly number[]): Later<number[]> {
  const tokens = round.view('getPairOisAfterV10Token', [pairIndices.map(() => collateralIndex), pairIndices])
  return () => {
    const found = tokens()
    return pairIndices.filter((_, at) => found[at]!.oiLongToken > 0n || found[at]!.oiShortToken > 0n)
  }
}

/** Reads the settings of each pair that hold for all collaterals. */
function readPairListings(
  round: CallRound,
  pairs: readonly NamedPair[],
  offsets: BandWords,
): Later<readonly ListedPair[]> {
  const wide = pairs.map(({ pairIndex }) => BigInt(pairIndex))
  const multipliers = round.view('getPairCounterTradeFeeRateMultipliers', [pairs.map(({ pairIndex }) => pairIndex)])
  const bands = round.view('getPairDepthBandsArray', [wide])
  const factors = round.view('getPairFactors', [wide])
  const liquidationParams = wide.map((index) => round.view('getPairLiquidationParams', [index]))
  return () =>
    pairs.map(({ spreadP, fee, ...pair }, at) => {
      const { aboveSlot1, aboveSlot2, belowSlot1, belowSlot2 } = bands()[at]!
      const listing: PairListing = {
        spreadP,
        feeP: PercentP.of(fee.totalPositionSizeFeeP),
        liqFeeP: PercentP.of(fee.totalLiqCollateralFeeP),
        minPositionSizeUsd: Usd.of(BigInt(fee.minPositionSizeUsd) * E3_TO_E18),
        counterTradeFeeRateMultiplier: multipliers()[at]!,
        liquidationParams: liquidationParams[at]!(),
        depthAbove: decodeDepthBook({ slot1: aboveSlot1, slot2: aboveSlot2 }, offsets),
        depthBelow: decodeDepthBook({ slot1: belowSlot1, slot2: belowSlot2 }, offsets),
        factors: factors()[at]!,
      }
      return { ...pair, listing }
    })
}

/** Reads the terms of each pair in one collateral, by pair index. */
function readPairTerms(
  round: CallRound,
  collateral: { readonly index: number },
  [borrowing, oiBeforeV10, pairGroups]: OldBorrowingPairs,
  pairIndices: readonly number[],
): Later<ReadonlyMap<number, PairTerms>> {
  const collateralIndices = pairIndices.map(() => collateral.index)
  const fundingParams = round.view('getPairFundingFeeParams', [collateralIndices, pairIndices])
  const borrowingParams = round.view('getPairBorrowingFeeParams', [collateralIndices, pairIndices])
  const skewDepths = round.view('getPairSkewDepths', [collateralIndices, pairIndices])
  const globals = round.view('getPairGlobalParamsArray', [collateralIndices, pairIndices])
  const caps = pairIndices.map((pair) =>
    borrowing[pair]!.feePerBlock > 0
      ? round.view('getBorrowingPairFeePerBlockCap', [collateral.index, pair])
      : () => NO_OLD_BORROWING.feePerBlockCap,
  )
  return () =>
    new Map(
      pairIndices.map((pairIndex, at) => {
        const { feePerBlock, feeExponent } = borrowing[pairIndex]!
        const terms: PairTerms = {
          fundingParams: fundingParams()[at]!,
          borrowingParams: borrowingParams()[at]!,
          skewDepth: TokenSize.of(skewDepths()[at]!),
          maxOi: WholeCollateral.of(oiBeforeV10[pairIndex]!.max),
          maxSkew: WholeCollateral.of(globals()[at]!.maxSkewCollateral),
          oldBorrowing: {
            feePerBlock,
            feeExponent,
            feePerBlockCap: caps[at]!(),
            pairGroups: pairGroups[pairIndex]!,
          },
        }
        return [pairIndex, terms]
      }),
    )
}

/** Reads each token's symbol. Its decimals are the ones that the Diamond calculates with. */
function readCollaterals(
  round: CallRound,
  found: readonly DiamondCollateral[],
  block: Hex,
): Later<readonly ScaledCollateral[]> {
  const symbols = found.map(({ collateral }) => round.add(symbolCall(collateral, block)))
  return () =>
    found.map(({ collateral, isActive, precision, precisionDelta }, at) => ({
      index: at + 1,
      symbol: symbols[at]!(),
      address: parseAddress(collateral) as Address,
      decimals: decimalsOf(precision),
      isActive,
      precision,
      precisionDelta,
    }))
}

/** Returns the number of decimals of a `precision`, which is a power of ten. */
function decimalsOf(precision: bigint): number {
  return precision.toString().length - 1
}

function symbolCall(token: Hex, block: Hex): DiamondCall<string> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' })
  return {
    call: { method: 'eth_call', params: [{ to: token, data }, block] },
    decode(outcome) {
      try {
        if (outcome.ok) {
          return decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data: outcome.result as Hex })
        }
      } catch (error) {
        throw new NodeUnavailableError(`the symbol of ${token} can't be read`, { cause: error })
      }
      throw new NodeUnavailableError(`the symbol of ${token} failed: ${outcome.message}`)
    },
  }
}
