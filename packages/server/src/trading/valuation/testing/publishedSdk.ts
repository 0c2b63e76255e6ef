import { CollateralAmount, FundingRateP, PercentP, Price, TokenSize, Usd, WholeCollateral } from '@bezel/protocol'
import type { BorrowingFee, CumulVolContext, GetBorrowingFeeContext } from '@gainsnetwork/sdk'
import fc from 'fast-check'
import type {
  BorrowingData,
  BorrowingInitialAccFees,
  BorrowingPairGroup,
  DepthBook,
  Market,
  Moment,
  OldBorrowing,
  PairState,
} from '../chainState.ts'
import { LISTING, MARKET, QUIET_PAIR } from './fixtures.ts'

// Random inputs in the chain's integers, and the same ones as the numbers that the published SDK takes. Its percentages
// are in percent for price impact and fees, and fractions of one for liquidation.

/** Pair index of every input: the SDK takes lists. */
export const PAIR_INDEX = 0

/** Converts an integer of `decimals` places to the nearest number. */
export function toNumber(value: bigint | number, decimals: number): number {
  return Number(value) / 10 ** decimals
}

/** Converts an amount of USDC to the nearest number. */
export function usdcNumber(amount: CollateralAmount): number {
  return toNumber(amount, 6)
}

/** Values from 1 to `max`, spread over orders of magnitude. */
export function logBigInt(max: bigint): fc.Arbitrary<bigint> {
  const digits = max.toString().length
  return fc
    .tuple(fc.integer({ min: 1, max: digits }), fc.bigInt(0n, max))
    .map(([kept, value]) => (value % 10n ** BigInt(kept)) + 1n)
}

/** Prices from 0.001 to 100,000. */
export const prices: fc.Arbitrary<Price> = fc
  .tuple(fc.integer({ min: -3, max: 4 }), fc.bigInt(1_000_000n, 9_999_999n))
  .map(([magnitude, digits]) => Price.of((digits * 10n ** BigInt(magnitude + 3)) / 10n))

const depthBooks: fc.Arbitrary<DepthBook> = fc
  .record({
    totalDepthUsd: fc.oneof(fc.constant(0n), fc.bigInt(1_000_000n, 4_000_000_000n)),
    shares: fc.array(fc.bigInt(0n, 9_999n), { minLength: 29, maxLength: 29 }),
    offsets: fc.array(fc.bigInt(1n, 65_535n), { minLength: 30, maxLength: 30 }),
  })
  .map(({ totalDepthUsd, shares, offsets }) => ({
    totalDepthUsd,
    sharesBps: [...shares.toSorted(compare), 10_000n],
    offsetsPpm: offsets.toSorted(compare),
  }))

function compare(a: bigint, b: bigint): number {
  return Number(a - b)
}

/**
 * Recent volumes in USD (1e18): none, or enough that the contracts do not round it to none, from which the first band's
 * offset is a step away.
 */
const recentVolumes = fc.oneof(
  fc.constant(0n),
  logBigInt(10n ** 26n).map((value) => value + 10n ** 12n),
)

/** Markets whose price moves by spread, volume and skew, with terms of the trader's own, and an oracle's price. */
export const impactMarkets: fc.Arbitrary<{ readonly market: Market; readonly price: Price }> = fc
  .record({
    spreadP: fc.bigInt(0n, 5_000_000_000n),
    depthAbove: depthBooks,
    depthBelow: depthBooks,
    cumulativeFactor: fc.integer({ min: 10_000, max: 30_000_000_000 }),
    // Whole thousandths, which times the trader's multiplier leave nothing to round.
    protectionCloseFactor: fc.integer({ min: 0, max: 100_000_000 }).map((value) => value * 1_000),
    exemptOnOpen: fc.boolean(),
    exemptAfterProtectionCloseFactor: fc.boolean(),
    boughtUsd: recentVolumes,
    soldUsd: recentVolumes,
    price: prices,
    oiLongUsd: logBigInt(10n ** 25n),
    oiShortUsd: logBigInt(10n ** 25n),
    skewDepthUsd: fc.oneof(fc.constant(0n), fc.bigInt(10n ** 24n, 10n ** 28n)),
    cumulVolPriceImpactMultiplier: fc.integer({ min: 0, max: 2_000 }),
    fixedSpreadP: fc.integer({ min: 0, max: 500 }),
    isProtectionWhitelisted: fc.boolean(),
  })
  .map((of) => {
    const { cumulativeFactor, protectionCloseFactor, exemptOnOpen, exemptAfterProtectionCloseFactor } = of
    const factors = { cumulativeFactor, protectionCloseFactor, exemptOnOpen, exemptAfterProtectionCloseFactor }
    const toTokens = (usd: bigint): TokenSize => TokenSize.of((usd * Price.one) / of.price)
    const market: Market = {
      ...MARKET,
      listing: {
        ...LISTING,
        spreadP: PercentP.of(of.spreadP),
        depthAbove: of.depthAbove,
        depthBelow: of.depthBelow,
        factors: { ...LISTING.factors, ...factors },
      },
      pair: {
        ...QUIET_PAIR,
        oiLongToken: toTokens(of.oiLongUsd),
        oiShortToken: toTokens(of.oiShortUsd),
        skewDepth: toTokens(of.skewDepthUsd),
      },
      // The SDK asks the clock for the present window, so there is one window for all times.
      volume: {
        settings: { startTs: 0, windowsDuration: 10 ** 12, windowsCount: 1 },
        windows: new Map([[0, { oiLongUsd: Usd.of(of.boughtUsd), oiShortUsd: Usd.of(of.soldUsd) }]]),
      },
      terms: {
        cumulVolPriceImpactMultiplier: of.cumulVolPriceImpactMultiplier,
        fixedSpreadP: of.fixedSpreadP,
        isProtectionWhitelisted: of.isProtectionWhitelisted,
        feeMultiplier: 1_000,
      },
    }
    return { market, price: of.price }
  })

export function volumeContext({ listing, volume, terms }: Market, { blockNumber }: Moment): CumulVolContext {
  const { factors } = listing
  const windows = [...volume.windows].map(([id, { oiLongUsd, oiShortUsd }]) => [
    id,
    { oiLongUsd: toNumber(oiLongUsd, 18), oiShortUsd: toNumber(oiShortUsd, 18) },
  ])
  const bandsOf = ({ totalDepthUsd, sharesBps }: DepthBook): { totalDepthUsd: number; bands: number[] } => ({
    totalDepthUsd: Number(totalDepthUsd),
    bands: sharesBps.map((share) => toNumber(share, 4)),
  })
  return {
    currentBlock: blockNumber,
    contractsVersion: 2,
    protectionCloseFactorWhitelist: terms.isProtectionWhitelisted,
    oiWindowsSettings: volume.settings,
    oiWindows: Object.fromEntries(windows),
    pairDepthBands: { above: bandsOf(listing.depthAbove), below: bandsOf(listing.depthBelow) },
    userPriceImpact: {
      cumulVolPriceImpactMultiplier: toNumber(terms.cumulVolPriceImpactMultiplier, 3),
      fixedSpreadP: toNumber(terms.fixedSpreadP, 3),
    },
    cumulativeFactor: toNumber(factors.cumulativeFactor, 10),
    protectionCloseFactor: toNumber(factors.protectionCloseFactor, 10),
    protectionCloseFactorBlocks: factors.protectionCloseFactorBlocks,
    exemptOnOpen: factors.exemptOnOpen,
    exemptAfterProtectionCloseFactor: factors.exemptAfterProtectionCloseFactor,
  }
}

/** Returns the offsets of a side in percent; the SDK takes one list for both. */
export function offsetsOf({ offsetsPpm }: DepthBook): { bands: number[] } {
  return { bands: offsetsPpm.map((offset) => toNumber(offset, 4)) }
}

/**
 * Pairs with funding. Both sides have open interest, because the SDK pays a side that has none; the coefficient and the
 * whole tokens give a velocity without rounding; the last rate is within its cap, which the SDK enforces at once.
 */
export const fundedPairs: fc.Arbitrary<PairState> = fc
  .record({
    longs: fc.bigInt(1n, 1_000_000n),
    shorts: fc.bigInt(1n, 1_000_000n),
    coefficient: logBigInt(10n ** 12n),
    absoluteVelocityPerYearCap: fc.integer({ min: 1, max: 16_777_215 }),
    absoluteRatePerSecondCap: fc.integer({ min: 1, max: 3_170_979 }),
    thetaThresholdUsd: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000_000 })),
    aprMultiplierEnabled: fc.boolean(),
    lastRateShare: fc.bigInt(-1_000n, 1_000n),
    accLong: fc.bigInt(-(10n ** 26n), 10n ** 26n),
    accShort: fc.bigInt(-(10n ** 26n), 10n ** 26n),
  })
  .map((of): PairState => {
    const lastRate = (BigInt(of.absoluteRatePerSecondCap) * 10n ** 8n * of.lastRateShare) / 1_000n
    return {
      ...QUIET_PAIR,
      oiLongToken: TokenSize.of(of.longs * 10n ** 18n),
      oiShortToken: TokenSize.of(of.shorts * 10n ** 18n),
      fundingParams: {
        skewCoefficientPerYear: of.coefficient * 10n ** 16n,
        absoluteVelocityPerYearCap: of.absoluteVelocityPerYearCap,
        absoluteRatePerSecondCap: of.absoluteRatePerSecondCap,
        thetaThresholdUsd: of.thetaThresholdUsd,
        fundingFeesEnabled: true,
        aprMultiplierEnabled: of.aprMultiplierEnabled,
      },
      fundingData: {
        accFundingFeeLongP: of.accLong,
        accFundingFeeShortP: of.accShort,
        lastFundingRatePerSecondP: FundingRateP.of(lastRate),
        lastFundingUpdateTs: 1_000,
      },
    }
  })

const accumulators = fc.bigInt(0n, 10n ** 11n)

/** Borrowing of a pair or a group, last updated in blocks 900 to 1000. */
const borrowingData: fc.Arbitrary<BorrowingData> = fc.record({
  feePerBlock: fc.integer({ min: 0, max: 100_000 }),
  accFeeLong: accumulators.map((value) => value + 10n ** 12n),
  accFeeShort: accumulators.map((value) => value + 10n ** 12n),
  accLastUpdatedBlock: fc.integer({ min: 900, max: 1_000 }),
  feeExponent: fc.integer({ min: 1, max: 3 }),
})

/** Stays in up to three groups; accumulated fees never fall from one to the next. */
const pairGroups: fc.Arbitrary<BorrowingPairGroup[]> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.array(accumulators, { minLength: 6, maxLength: 6 })), {
    maxLength: 3,
  })
  .map((stays) =>
    stays.map(([blocks, fees], at) => {
      const fee = (i: number): bigint => (fees[i]! + BigInt(at) * 10n ** 11n) * 3n
      return {
        groupIndex: at + 1,
        block: 100 + 250 * at + blocks,
        initialAccFeeLong: fee(0),
        initialAccFeeShort: fee(1),
        prevGroupAccFeeLong: fee(2),
        prevGroupAccFeeShort: fee(3),
        pairAccFeeLong: fee(4),
        pairAccFeeShort: fee(5),
      }
    }),
  )

export interface OldBorrowingCase {
  readonly pair: PairState
  readonly initial: BorrowingInitialAccFees
}

/**
 * Pairs with first-generation borrowing and a trade's start. Both sides have open interest, because the SDK charges a
 * side that has none.
 */
export const oldBorrowingCases: fc.Arbitrary<OldBorrowingCase> = fc
  .record({
    data: borrowingData,
    groupData: borrowingData,
    pairGroups,
    minP: fc.integer({ min: 0, max: 50_000 }),
    capP: fc.integer({ min: 0, max: 50_000 }),
    longs: logBigInt(10n ** 24n),
    shorts: logBigInt(10n ** 24n),
    oldLongs: fc.bigInt(0n, 10n ** 12n),
    oldShorts: fc.bigInt(0n, 10n ** 12n),
    maxOi: fc.bigInt(10n ** 14n, 10n ** 18n),
    groupLongs: fc.bigInt(10n ** 10n, 10n ** 17n),
    groupShorts: fc.bigInt(10n ** 10n, 10n ** 17n),
    groupMax: fc.bigInt(10n ** 14n, 10n ** 18n),
    startBlock: fc.integer({ min: 50, max: 1_000 }),
    startPairFee: accumulators,
    startGroupFee: accumulators,
  })
  .map((of): OldBorrowingCase => {
    const oldBorrowing: OldBorrowing = {
      data: of.data,
      // An upper cap of 0 means none.
      feePerBlockCap: { minP: of.minP, maxP: of.capP === 0 ? 0 : of.minP + of.capP },
      pairGroups: of.pairGroups,
      group:
        of.pairGroups.length === 0
          ? undefined
          : {
              data: of.groupData,
              oi: {
                long: WholeCollateral.of(of.groupLongs),
                short: WholeCollateral.of(of.groupShorts),
                max: WholeCollateral.of(of.groupMax),
              },
            },
    }
    return {
      pair: {
        ...QUIET_PAIR,
        oiLongToken: TokenSize.of(of.longs + 10n ** 18n),
        oiShortToken: TokenSize.of(of.shorts + 10n ** 18n),
        oiLongBeforeV10Collateral: CollateralAmount.of(of.oldLongs),
        oiShortBeforeV10Collateral: CollateralAmount.of(of.oldShorts),
        maxOi: WholeCollateral.of(of.maxOi),
        oldBorrowing,
      },
      initial: { accPairFee: of.startPairFee, accGroupFee: of.startGroupFee, block: of.startBlock },
    }
  })

export function oldBorrowingContext(pair: PairState, blockNumber: number): GetBorrowingFeeContext {
  const { data, feePerBlockCap, pairGroups: stays, group } = pair.oldBorrowing
  const beforeV10 = {
    long: usdcNumber(pair.oiLongBeforeV10Collateral),
    short: usdcNumber(pair.oiShortBeforeV10Collateral),
  }
  const oi = { ...beforeV10, max: toNumber(pair.maxOi, 10) }
  const groupOi = {
    long: toNumber(group?.oi.long ?? 0, 10),
    short: toNumber(group?.oi.short ?? 0, 10),
    max: toNumber(group?.oi.max ?? 0, 10),
  }
  const last = { ...dataNumbers(group?.data ?? data), oi: groupOi }
  return {
    currentBlock: blockNumber,
    collateralPriceUsd: 1,
    pairs: [
      {
        ...dataNumbers(data),
        oi,
        groups: stays.map(stayNumbers),
        feePerBlockCap: {
          minP: toNumber(feePerBlockCap.minP, 5),
          maxP: feePerBlockCap.maxP === 0 ? 1 : toNumber(feePerBlockCap.maxP, 5),
        },
      },
    ],
    groups: [last, ...stays.map(() => last)],
    pairOis: [
      {
        beforeV10Collateral: beforeV10,
        collateral: { long: 0, short: 0 },
        token: { long: toNumber(pair.oiLongToken, 18), short: toNumber(pair.oiShortToken, 18) },
        maxCollateral: oi.max,
      } as GetBorrowingFeeContext['pairOis'][number],
    ],
  }
}

export function initialNumbers({
  accPairFee,
  accGroupFee,
  block,
}: BorrowingInitialAccFees): BorrowingFee.InitialAccFees {
  return { accPairFee: toNumber(accPairFee, 10), accGroupFee: toNumber(accGroupFee, 10), block }
}

function dataNumbers(data: BorrowingData): BorrowingFee.BorrowingData {
  return {
    ...data,
    feePerBlock: toNumber(data.feePerBlock, 10),
    accFeeLong: toNumber(data.accFeeLong, 10),
    accFeeShort: toNumber(data.accFeeShort, 10),
  }
}

function stayNumbers({ groupIndex, block, ...fees }: BorrowingPairGroup): BorrowingFee.PairGroup {
  return {
    groupIndex,
    block,
    initialAccFeeLong: toNumber(fees.initialAccFeeLong, 10),
    initialAccFeeShort: toNumber(fees.initialAccFeeShort, 10),
    prevGroupAccFeeLong: toNumber(fees.prevGroupAccFeeLong, 10),
    prevGroupAccFeeShort: toNumber(fees.prevGroupAccFeeShort, 10),
    pairAccFeeLong: toNumber(fees.pairAccFeeLong, 10),
    pairAccFeeShort: toNumber(fees.pairAccFeeShort, 10),
  }
}
