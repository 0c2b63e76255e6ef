import type { DiamondDeployment } from '@bezel/contracts'
import { zeroAddress } from 'viem'
import { DEPTH_BAND_SHARES_BPS } from '../listing/depthBands.ts'
import { deployedPairs } from '../listing/deployedPairs.ts'
import { BORROWING_RATE_PER_SECOND_P, FUNDING } from '../listing/holdingFees.ts'
import { PAIRS, type ListedPair } from '../listing/pairs.ts'
import { PAIR_FACTORS, PAIR_MAX_OI_USD } from '../listing/settings.ts'
import { packBands } from './packBands.ts'
import type { DeployedCollateral } from './deployedCollateral.ts'

/** Pairs in one transaction: small ones, because EDR's trace of a block is what the memory of a start is made of. */
const PAIRS_PER_TRANSACTION = 8
const TOKEN = 10n ** 18n
const OI_SCALE = 10n ** 10n
const NO_FEED = { feed1: zeroAddress, feed2: zeroAddress, feedCalculation: 0, maxDeviationP: 0n }

/** Lists every pair with its spread, depth, limits, funding and borrowing, the same for each collateral. */
export function configurePairs(diamond: DiamondDeployment, collaterals: readonly DeployedCollateral[]): void {
  listPairs(diamond)
  configureImpact(diamond)
  for (const { index, priceUsd } of collaterals) configureCollateral(diamond, index, priceUsd)
}

function listPairs({ call }: DiamondDeployment): void {
  const pairs = deployedPairs()
  for (let from = 0; from < pairs.length; from += PAIRS_PER_TRANSACTION) {
    const batch = pairs.slice(from, from + PAIRS_PER_TRANSACTION)
    call('PairsStorageFacet', 'addPairs', [batch.map((pair) => ({ ...pair, feed: NO_FEED }))])
  }
  const closed = pairs.filter(({ customMaxLeverage }) => customMaxLeverage > 0n)
  call('PairsStorageFacet', 'setPairCustomMaxLeverages', [
    closed.map(({ index }) => index),
    closed.map(({ customMaxLeverage }) => customMaxLeverage),
  ])
}

function configureImpact({ configure }: DiamondDeployment): void {
  configure('setPairFactors', [
    PAIRS.map(({ index }) => index),
    PAIRS.map(() => ({ ...PAIR_FACTORS, __placeholder: 0n })),
  ])
  const deep = PAIRS.filter(({ depthAboveUsd, depthBelowUsd }) => depthAboveUsd > 0 || depthBelowUsd > 0)
  configure('setDepthBands', [deep.map(({ index }) => index), deep.map(depthBandsOf)])
  configure('setCounterTrades', [
    FUNDING.map(({ pairIndex }) => pairIndex),
    FUNDING.map((funding) => ({
      maxLeverage: funding.counterTradeMaxLeverage,
      feeRateMultiplier: funding.counterTradeFeeMultiplier,
    })),
  ])
}

function depthBandsOf({ depthAboveUsd, depthBelowUsd }: ListedPair) {
  const above = packBands(DEPTH_BAND_SHARES_BPS, depthAboveUsd)
  const below = packBands(DEPTH_BAND_SHARES_BPS, depthBelowUsd)
  return { aboveSlot1: above.slot1, aboveSlot2: above.slot2, belowSlot1: below.slot1, belowSlot2: below.slot2 }
}

function configureCollateral({ configure }: DiamondDeployment, collateralIndex: number, priceUsd: string): void {
  const inCollateral = (usd: bigint): bigint => scaledCollateral(usd, priceUsd)
  const funded = FUNDING.map(({ pairIndex }) => pairIndex)
  const listed = PAIRS.map(({ index }) => index)
  configure('setMaxOis', [collateralIndex, listed, listed.map(() => inCollateral(PAIR_MAX_OI_USD))])
  configure('setMaxSkews', [collateralIndex, funded, FUNDING.map(({ maxSkewUsd }) => inCollateral(maxSkewUsd))])
  configure('setSkewDepths', [collateralIndex, funded, FUNDING.map(({ skewDepthTokens }) => skewDepthTokens * TOKEN)])
  configure('setFundingParams', [
    collateralIndex,
    funded,
    FUNDING.map((funding) => ({ ...funding, fundingFeesEnabled: true, __placeholder: 0n })),
  ])
  configure('setBorrowingParams', [
    collateralIndex,
    listed,
    PAIRS.map(({ groupIndex }) => ({
      borrowingRatePerSecondP: BORROWING_RATE_PER_SECOND_P[groupIndex],
      __placeholder: 0n,
    })),
  ])
}

/** Whole USD in units of a collateral, 1e10, rounded down. */
function scaledCollateral(usd: bigint, priceUsd: string): bigint {
  const [whole = '0', fraction = ''] = priceUsd.split('.')
  return (usd * OI_SCALE * 10n ** BigInt(fraction.length)) / BigInt(whole + fraction)
}
