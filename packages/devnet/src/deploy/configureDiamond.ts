import type { DiamondDeployment } from '@bezel/contracts'
import { Ratio, TokenSize, WholeCollateral, type ChainSlug } from '@bezel/protocol'
import { zeroAddress, type Address } from 'viem'
import {
  DEPTH_BAND_OFFSETS_PPM,
  DEPTH_BAND_SHARES_BPS,
  CHAIN_SETTINGS,
  GLOBAL_TRADE_FEES,
  OI_WINDOWS,
  PAIR_FACTORS,
  PAIR_MAX_OI_USD,
} from '../listing/settings.ts'
import {
  BORROWING_RATE_PER_SECOND_P,
  BORROWING_V1_CAP,
  BORROWING_V1_GROUPS,
  BORROWING_V1_PAIRS,
  FEE_TIERS,
  FEES,
  FUNDING,
  POINTS_PER_USD,
} from '../listing/fees.ts'
import { GROUPS } from '../listing/groups.ts'
import { KEEPER, ORACLES, TREASURY } from './accounts.ts'
import type { LocalCollateral } from '../listing/collaterals.ts'
import { deployedPairs, type LocalPair } from '../listing/pairs.ts'

/** A collateral deployed on a local chain. */
export interface DeployedCollateral extends LocalCollateral {
  readonly address: Address
  readonly vault: Address
  readonly priceFeed: Address
}

/** Deviation from the median, 1e3 per percent, beyond which an oracle's answer is not counted. */
const MAX_DEVIATION_P = 1_000

/** Weight of a close at a loss in the volume, 1e10. Our own choice: as much as one in profit. */
const NEG_PNL_CUMUL_VOL_MULTIPLIER = Ratio.one

/** Pairs per transaction. Few, because EDR's trace of a block determines the memory of a start. */
const PAIRS_PER_TRANSACTION = 8

/** Pairs whose settings are set by one transaction. */
const PAIRS_PER_SETTING = 64

const TOKEN = TokenSize.one

const OI_SCALE = WholeCollateral.one

const NO_FEED = { feed1: zeroAddress, feed2: zeroAddress, feedCalculation: 0, maxDeviationP: 0n }

const FIRST_SLOT_BANDS = 14

const BAND_BITS = 16n

const DEPTH_BITS = 32n

/** Configures the whole Diamond: collaterals, oracles, timeouts, groups, fees and their tiers. */
export function configureTrading(
  { call, configure }: DiamondDeployment,
  slug: ChainSlug,
  linkToken: Address,
  collaterals: readonly DeployedCollateral[],
): void {
  const { marketOrdersTimeoutBlocks, triggerTimeoutBlocks, minAnswers } = CHAIN_SETTINGS[slug]
  for (const { index, address, vault, priceFeed } of collaterals) {
    call('CollateralsFacet', 'addCollateral', [address, vault])
    configure('setCollateralUsdPriceFeed', [index, priceFeed])
  }
  const gns = collaterals.find(({ symbol }) => symbol === 'GNS')?.address ?? zeroAddress
  configure('setAddresses', [{ gns, gnsStaking: zeroAddress, treasury: TREASURY.account.address }])
  configure('setOracles', [
    ORACLES.slice(0, minAnswers + 1).map(({ account }) => account.address),
    minAnswers,
    MAX_DEVIATION_P,
    MAX_DEVIATION_P,
  ])
  configure('setLinkToken', [linkToken])
  configure('setGlobalTradeFeeParams', [{ ...GLOBAL_TRADE_FEES, __placeholder: 0n }])
  const { slot1, slot2 } = packBands(DEPTH_BAND_OFFSETS_PPM)
  configure('setDepthBandsMapping', [slot1, slot2])
  configure('setOiWindows', [
    { startTs: 0, windowsDuration: OI_WINDOWS.durationSeconds, windowsCount: OI_WINDOWS.count },
    NEG_PNL_CUMUL_VOL_MULTIPLIER,
  ])
  call('TradingInteractionsFacet', 'updateMarketOrdersTimeoutBlocks', [marketOrdersTimeoutBlocks])
  call('TradingInteractionsFacet', 'updateByPassTriggerLink', [[KEEPER.account.address], [true]])
  call('TradingCallbacksFacet', 'updateTriggerTimeoutBlocks', [triggerTimeoutBlocks])
  call('PairsStorageFacet', 'addGroups', [GROUPS.map((group) => ({ ...group, job: `0x${'00'.repeat(32)}` }))])
  for (const { index, liquidation } of GROUPS) {
    call('PairsStorageFacet', 'setGroupLiquidationParams', [index, liquidation])
  }
  call('PairsStorageFacet', 'addFees', [FEES.map((fee) => ({ ...fee, __placeholder: 0n }))])
  configure('setFeeTiers', [FEE_TIERS, POINTS_PER_USD])
  configure('setBorrowingFeePerBlockCap', [BORROWING_V1_CAP])
}

/** Lists every pair with its spread, depth, limits, funding and borrowing, the same for each collateral. */
export function configurePairs(
  diamond: DiamondDeployment,
  collaterals: readonly DeployedCollateral[],
  pairs: readonly LocalPair[],
): void {
  listPairs(diamond, pairs)
  configureImpact(diamond, pairs)
  for (const { index, priceUsd } of collaterals) {
    configureCollateral(diamond, index, priceUsd)
    for (const some of chunksOf(pairs)) configureListed(diamond, { collateralIndex: index, priceUsd }, some)
  }
}

function listPairs({ call }: DiamondDeployment, listed: readonly LocalPair[]): void {
  const pairs = deployedPairs(listed)
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

function configureImpact({ configure }: DiamondDeployment, pairs: readonly LocalPair[]): void {
  for (const some of chunksOf(pairs)) {
    configure('setPairFactors', [
      some.map(({ index }) => index),
      some.map(() => ({ ...PAIR_FACTORS, __placeholder: 0n })),
    ])
    const deep = some.filter(({ depthAboveUsd, depthBelowUsd }) => depthAboveUsd > 0 || depthBelowUsd > 0)
    configure('setDepthBands', [deep.map(({ index }) => index), deep.map(depthBandsOf)])
  }
  configure('setCounterTrades', [
    FUNDING.map(({ pairIndex }) => pairIndex),
    FUNDING.map((funding) => ({
      maxLeverage: funding.counterTradeMaxLeverage,
      feeRateMultiplier: funding.counterTradeFeeMultiplier,
    })),
  ])
}

function depthBandsOf({ depthAboveUsd, depthBelowUsd }: LocalPair) {
  const above = packBands(DEPTH_BAND_SHARES_BPS, depthAboveUsd)
  const below = packBands(DEPTH_BAND_SHARES_BPS, depthBelowUsd)
  return { aboveSlot1: above.slot1, aboveSlot2: above.slot2, belowSlot1: below.slot1, belowSlot2: below.slot2 }
}

function configureCollateral({ configure }: DiamondDeployment, collateralIndex: number, priceUsd: string): void {
  const inCollateral = (usd: bigint): bigint => scaledCollateral(usd, priceUsd)
  const funded = FUNDING.map(({ pairIndex }) => pairIndex)
  configure('setMaxSkews', [collateralIndex, funded, FUNDING.map(({ maxSkewUsd }) => inCollateral(maxSkewUsd))])
  configure('setSkewDepths', [collateralIndex, funded, FUNDING.map(({ skewDepthTokens }) => skewDepthTokens * TOKEN)])
  configure('setFundingParams', [
    collateralIndex,
    funded,
    FUNDING.map((funding) => ({ ...funding, fundingFeesEnabled: true, __placeholder: 0n })),
  ])
  configure('setBorrowingV1Groups', [
    collateralIndex,
    BORROWING_V1_GROUPS.map(({ index }) => index),
    BORROWING_V1_GROUPS.map((group) => ({ ...group, maxOi: inCollateral(group.maxOiUsd) })),
  ])
  const older = BORROWING_V1_PAIRS.map(({ pairIndex }) => pairIndex)
  configure('setBorrowingV1Pairs', [collateralIndex, older, BORROWING_V1_PAIRS])
  configure('setBorrowingPairFeePerBlockCaps', [collateralIndex, older, BORROWING_V1_PAIRS.map(({ cap }) => cap)])
}

/** Configures what every listed pair has in a collateral. */
function configureListed(
  { configure }: DiamondDeployment,
  { collateralIndex, priceUsd }: { readonly collateralIndex: number; readonly priceUsd: string },
  pairs: readonly LocalPair[],
): void {
  const listed = pairs.map(({ index }) => index)
  const maxOi = scaledCollateral(PAIR_MAX_OI_USD, priceUsd)
  configure('setMaxOis', [collateralIndex, listed, listed.map(() => maxOi)])
  configure('setBorrowingParams', [
    collateralIndex,
    listed,
    pairs.map(({ groupIndex }) => ({
      borrowingRatePerSecondP: BORROWING_RATE_PER_SECOND_P[groupIndex],
      __placeholder: 0n,
    })),
  ])
}

function chunksOf(pairs: readonly LocalPair[]): LocalPair[][] {
  const count = Math.ceil(pairs.length / PAIRS_PER_SETTING)
  return Array.from({ length: count }, (_, at) => pairs.slice(at * PAIRS_PER_SETTING, (at + 1) * PAIRS_PER_SETTING))
}

/** Returns whole USD in units of a collateral, 1e10, rounded down. */
function scaledCollateral(usd: bigint, priceUsd: string): bigint {
  const [whole = '0', fraction = ''] = priceUsd.split('.')
  return (usd * OI_SCALE * 10n ** BigInt(fraction.length)) / BigInt(whole + fraction)
}

/**
 * Packs bands into two words of the Diamond: the total depth in the low 32 bits of the first, then 14 bands; 16 bands
 * in the second.
 */
export function packBands(bands: readonly number[], totalDepthUsd = 0): { slot1: bigint; slot2: bigint } {
  return {
    slot1: (packWords(bands.slice(0, FIRST_SLOT_BANDS)) << DEPTH_BITS) | BigInt(totalDepthUsd),
    slot2: packWords(bands.slice(FIRST_SLOT_BANDS)),
  }
}

function packWords(bands: readonly number[]): bigint {
  return bands.reduceRight((word, band) => (word << BAND_BITS) | BigInt(band), 0n)
}
