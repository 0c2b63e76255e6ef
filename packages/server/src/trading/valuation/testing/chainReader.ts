import { withScales } from '@bezel/protocol'
import type { Address } from 'viem'
import type { World } from '../../../../../../contracts/test/world.ts'
import type {
  CollateralState,
  Market,
  OldBorrowing,
  OpenInterest,
  PairListing,
  PairOi,
  PairState,
  ValuedPosition,
  TraderTerms,
  VolumeState,
} from '../chainState.ts'
import { decodeDepthBook } from '../depthBands.ts'
import { windowIdAt } from '../priceImpact.ts'

/** Reads the inputs of a valuation from the Diamond's views at the latest block. */
export interface ChainReader {
  market(trader: Address, pairIndex: number, collateralIndex: number): Promise<Market>
  position(trader: Address, index: number): Promise<ValuedPosition>
  terms(trader: Address, pairIndex: number): Promise<TraderTerms>
}

/** Creates a reader. Listings are cached, because each is a dozen reads and they are assumed not to change. */
export function createChainReader(world: World): ChainReader {
  const listings = new Map<number, Promise<PairListing>>()

  function listing(pairIndex: number): Promise<PairListing> {
    const known = listings.get(pairIndex) ?? readListing(world, pairIndex)
    listings.set(pairIndex, known)
    return known
  }

  return {
    async market(trader, pairIndex, collateralIndex) {
      const [listed, pair, collateral, volume, terms] = await Promise.all([
        listing(pairIndex),
        readPair(world, pairIndex, collateralIndex),
        readCollateral(world, collateralIndex),
        readVolume(world, pairIndex),
        readTerms(world, trader, pairIndex),
      ])
      return { listing: listed, pair, collateral, volume, terms }
    },
    terms: (trader, pairIndex) => readTerms(world, trader, pairIndex),
    async position(trader, index) {
      const trade = await world.read('getTrade', [trader, index])
      const [info, liquidationParams, feesData, oldBorrowing] = await Promise.all([
        world.read('getTradeInfo', [trader, index]),
        world.read('getTradeLiquidationParams', [trader, index]),
        world.read('getTradeFeesData', [trader, index]),
        world.read('getBorrowingInitialAccFees', [trade.collateralIndex, trader, index]),
      ])
      return withScales<ValuedPosition>({ trade, info, liquidationParams, feesData, oldBorrowing })
    },
  }
}

async function readListing(world: World, pairIndex: number): Promise<PairListing> {
  const index = BigInt(pairIndex)
  const [offsetSlot1, offsetSlot2] = await world.read('getDepthBandsMapping', [])
  const offsets = { slot1: offsetSlot1, slot2: offsetSlot2 }
  const bands = await world.read('getPairDepthBands', [index])
  const [factors] = await world.read('getPairFactors', [[index]])
  return withScales<PairListing>({
    spreadP: (await world.read('pairs', [index])).spreadP,
    feeP: await world.read('pairTotalPositionSizeFeeP', [index]),
    liqFeeP: await world.read('pairTotalLiqCollateralFeeP', [index]),
    minPositionSizeUsd: await world.read('pairMinPositionSizeUsd', [index]),
    counterTradeFeeRateMultiplier: await world.read('getPairCounterTradeFeeRateMultiplier', [pairIndex]),
    liquidationParams: await world.read('getPairLiquidationParams', [index]),
    depthAbove: decodeDepthBook({ slot1: bands.aboveSlot1, slot2: bands.aboveSlot2 }, offsets),
    depthBelow: decodeDepthBook({ slot1: bands.belowSlot1, slot2: bands.belowSlot2 }, offsets),
    factors: factors!,
  })
}

async function readPair(world: World, pairIndex: number, collateralIndex: number): Promise<PairState> {
  const one = [[collateralIndex], [pairIndex]] as const
  const [
    oi,
    before,
    maxOi,
    [global],
    skewDepth,
    [fundingParams],
    [fundingData],
    [borrowingParams],
    [borrowingData],
    oldBorrowing,
  ] = await Promise.all([
    world.read('getPairOiAfterV10Token', [collateralIndex, pairIndex]),
    world.read('getPairOisBeforeV10Collateral', [collateralIndex, pairIndex]),
    world.read('getPairMaxOi', [collateralIndex, pairIndex]),
    world.read('getPairGlobalParamsArray', one),
    world.read('getPairSkewDepth', [collateralIndex, pairIndex]),
    world.read('getPairFundingFeeParams', one),
    world.read('getPairFundingFeeData', one),
    world.read('getPairBorrowingFeeParams', one),
    world.read('getPairBorrowingFeeData', one),
    readOldBorrowing(world, pairIndex, collateralIndex),
  ])
  return withScales<PairState>({
    ...oi,
    oiLongBeforeV10Collateral: before[0],
    oiShortBeforeV10Collateral: before[1],
    maxOi,
    maxSkew: global!.maxSkewCollateral,
    skewDepth,
    fundingParams: fundingParams!,
    fundingData: fundingData!,
    borrowingParams: borrowingParams!,
    borrowingData: borrowingData!,
    oldBorrowing,
  })
}

async function readOldBorrowing(world: World, pairIndex: number, collateralIndex: number): Promise<OldBorrowing> {
  const [data, feePerBlockCap, pairGroups] = await Promise.all([
    world.read('getBorrowingPair', [collateralIndex, pairIndex]),
    world.read('getBorrowingPairFeePerBlockCap', [collateralIndex, pairIndex]),
    world.read('getBorrowingPairGroups', [collateralIndex, pairIndex]),
  ])
  const last = pairGroups.at(-1)
  if (last === undefined) return { data, feePerBlockCap, pairGroups, group: undefined }
  const [groupData, oi] = await Promise.all([
    world.read('getBorrowingGroup', [collateralIndex, last.groupIndex]),
    world.read('getBorrowingGroupOi', [collateralIndex, last.groupIndex]),
  ])
  return { data, feePerBlockCap, pairGroups, group: { data: groupData, oi: withScales<OpenInterest>(oi) } }
}

async function readCollateral(world: World, collateralIndex: number): Promise<CollateralState> {
  const [{ precision, precisionDelta }, priceUsd] = await Promise.all([
    world.read('getCollateral', [collateralIndex]),
    world.read('getCollateralPriceUsd', [collateralIndex]),
  ])
  return withScales<CollateralState>({ precision, precisionDelta, priceUsd })
}

async function readVolume(world: World, pairIndex: number): Promise<VolumeState> {
  const settings = await world.read('getOiWindowsSettings', [])
  const current = windowIdAt(settings, world.chain.head().timestampS)
  const ids = Array.from({ length: settings.windowsCount }, (_, i) => current - i)
  const args = [settings.windowsDuration, BigInt(pairIndex), ids.map(BigInt)] as const
  const windows = await world.read('getOiWindows', args)
  return { settings, windows: new Map(windows.map((window, i) => [ids[i]!, withScales<PairOi>(window)])) }
}

async function readTerms(world: World, trader: Address, pairIndex: number): Promise<TraderTerms> {
  const [impact, isProtectionWhitelisted, feeMultiplier] = await Promise.all([
    world.read('getUserPriceImpact', [trader, BigInt(pairIndex)]),
    world.read('getProtectionCloseFactorWhitelist', [trader]),
    // The fee of one whole is the multiplier of the trader's tier.
    world.read('calculateFeeAmount', [trader, 1_000n]),
  ])
  return { ...impact, isProtectionWhitelisted, feeMultiplier: Number(feeMultiplier) }
}
