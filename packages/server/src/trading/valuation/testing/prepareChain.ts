import { TRADERS } from '../../../../../devnet/src/deploy/accounts.ts'
import type { World } from '../../../../../../contracts/test/world.ts'

/** Pairs of the local listing that differ in the rules that move their price. */
export const PAIR = { BTC: 0, LINK: 2, EUR: 21, SOL: 33 } as const
/** Collaterals of arbitrum-sepolia: 18 decimals at 1 USD, 18 decimals at 2500 USD, 6 decimals at 1 USD. */
export const COLLATERAL = { DAI: 1, WETH: 2, USDC: 3 } as const

/** Blocks of close protection. Short, so that a run has closes on both sides of it. */
const PROTECTION_BLOCKS = 30

const FACTORS = {
  protectionCloseFactor: 65_000_000_000n,
  protectionCloseFactorBlocks: PROTECTION_BLOCKS,
  cumulativeFactor: 15_000_000_000n,
  exemptOnOpen: false,
  exemptAfterProtectionCloseFactor: false,
  __placeholder: 0n,
}

/** Funding that is quick enough to reach its cap and to change sign within a run. */
const QUICK_FUNDING = {
  skewCoefficientPerYear: 10n ** 28n,
  absoluteVelocityPerYearCap: 10_000_000,
  absoluteRatePerSecondCap: 100_000,
  thetaThresholdUsd: 5_000,
  fundingFeesEnabled: true,
  aprMultiplierEnabled: false,
  __placeholder: 0n,
}

/**
 * Activates every rule that the local listing leaves at its simplest: factors, exemptions, traders' own terms, quick
 * funding.
 */
export async function prepareChain(world: World): Promise<void> {
  await world.configure('setPairFactors', [
    [PAIR.BTC, PAIR.LINK, PAIR.SOL],
    [
      FACTORS,
      { ...FACTORS, cumulativeFactor: 4_000_000_000n, exemptAfterProtectionCloseFactor: true },
      { ...FACTORS, exemptOnOpen: true },
    ],
  ])
  // A close at a loss counts less in the volume.
  await world.configure('setOiWindows', [{ startTs: 7, windowsDuration: 60, windowsCount: 4 }, 4_000_000_000n])
  await prepareFunding(world)
  await prepareOldBorrowing(world)
  await prepareFeeTiers(world)
  const [, dear, whitelisted] = TRADERS.map(({ account }) => account.address)
  for (const pairIndex of [PAIR.BTC, PAIR.LINK]) {
    // A spread so wide that the liquidation price includes only a part of it.
    const impact = { cumulVolPriceImpactMultiplier: 700, fixedSpreadP: 150, __placeholder: 0n }
    await world.configure('setUserPriceImpact', [dear, pairIndex, impact])
  }
  await world.configure('setProtectionCloseFactorWhitelist', [whitelisted, true])
}

/** First-generation borrowing: on LINK alone, on BTC and SOL in a group of their own, each with its own exponent. */
async function prepareOldBorrowing(world: World): Promise<void> {
  for (const collateralIndex of Object.values(COLLATERAL)) {
    await world.configure('setBorrowingV1Groups', [
      collateralIndex,
      [1],
      [{ feePerBlock: 40_000_000, feeExponent: 1, maxOi: 10n ** 15n }],
    ])
    await world.configure('setBorrowingV1Pairs', [
      collateralIndex,
      [PAIR.BTC, PAIR.LINK, PAIR.SOL],
      [
        { groupIndex: 1, feePerBlock: 20_000_000, feeExponent: 1 },
        { groupIndex: 0, feePerBlock: 100_000_000, feeExponent: 2 },
        { groupIndex: 1, feePerBlock: 0, feeExponent: 1 },
      ],
    ])
    await world.configure('setBorrowingPairFeePerBlockCaps', [
      collateralIndex,
      [PAIR.LINK],
      [{ minP: 1_000, maxP: 80_000 }],
    ])
  }
}

/** Two tiers; the third trader is in the lower one from the start. */
async function prepareFeeTiers(world: World): Promise<void> {
  const tiers = [
    { feeMultiplier: 975, pointsThreshold: 1_000_000 },
    { feeMultiplier: 925, pointsThreshold: 5_000_000 },
  ]
  await world.configure('setFeeTiers', [tiers, Array.from({ length: 10 }, () => 1_000n)])
  await world.configure('setTraderPoints', [TRADERS[2]!.account.address, 2_000_000n * 10n ** 18n])
}

async function prepareFunding(world: World): Promise<void> {
  const { DAI, WETH, USDC } = COLLATERAL
  const quick = [
    { ...QUICK_FUNDING, aprMultiplierEnabled: true },
    { ...QUICK_FUNDING, fundingFeesEnabled: false },
  ]
  await world.configure('setFundingParams', [DAI, [PAIR.LINK, PAIR.SOL], quick])
  for (const collateralIndex of [WETH, USDC]) {
    await world.configure('setFundingParams', [
      collateralIndex,
      [PAIR.BTC, PAIR.LINK, PAIR.SOL],
      [
        { ...QUICK_FUNDING, aprMultiplierEnabled: true },
        QUICK_FUNDING,
        { ...QUICK_FUNDING, absoluteVelocityPerYearCap: 10_000 },
      ],
    ])
  }
  await world.configure('setSkewDepths', [WETH, [PAIR.LINK], [2_000n * 10n ** 18n]])
}
