import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { packBands } from '../../packages/devnet/src/deploy/configureDiamond.ts'
import {
  DEPTH_BAND_OFFSETS_PPM,
  DEPTH_BAND_SHARES_BPS,
  PAIR_FACTORS,
} from '../../packages/devnet/src/listing/settings.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BOB,
  flatten,
  LINK,
  mineBlocks,
  openPosition,
  passTime,
  requestClose,
  setDepth,
  tokens,
  usd,
  usdc,
  USDC,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const P10 = 10n ** 10n

const E18 = 10n ** 18n

const WINDOW_S = 60

const WINDOWS = 4

type Book = { shares: readonly number[]; offsets: readonly number[]; totalUsd: number }

const LISTED: Book = { shares: DEPTH_BAND_SHARES_BPS, offsets: DEPTH_BAND_OFFSETS_PPM, totalUsd: 1_000_000 }

/**
 * Computes the average-fill impact of `usd18` through the bands a second time, from its specification. 1e10 per
 * percent.
 */
function averageFill({ shares, offsets, totalUsd }: Book, usd18: bigint): bigint {
  if (totalUsd === 0 || usd18 === 0n) return 0n
  const ends = shares.map((bps) => (BigInt(bps) * BigInt(totalUsd) * E18) / 10_000n)
  let remaining = usd18
  let paid = 0n
  let reached = 0n
  for (const [i, end] of ends.entries()) {
    if (end <= reached) continue
    const available = end - reached
    const taken = shares[i] === 10_000 || remaining < available ? remaining : available
    const from = BigInt(offsets[i - 1] ?? 0) * 10n ** 6n
    const to = BigInt(offsets[i]!) * 10n ** 6n
    paid += taken * (from + ((to - from) * taken) / available / 2n)
    remaining -= taken
    reached = end
    if (remaining === 0n) break
  }
  return paid / usd18
}

/** Returns the impact of a trade after earlier volume. `factor` is 1e10 for 1. */
function impactOf(book: Book, volume18: bigint, size18: bigint, factor = P10): bigint {
  const before = averageFill(book, volume18)
  return ((before + (averageFill(book, volume18 + size18) - before) / 2n) * factor) / P10
}

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
})

const impact = (long: boolean, size18: bigint, open = true, isPnlPositive = false, lastIncrease = 0n) =>
  world().read('getTradeCumulVolPriceImpactP', [ALICE.address, LINK, long, size18, isPnlPositive, open, lastIncrease])

async function setFactors(factors: Partial<Record<keyof typeof PAIR_FACTORS, bigint | number | boolean>>) {
  await world().configure('setPairFactors', [[BigInt(LINK)], [{ ...PAIR_FACTORS, ...factors, __placeholder: 0n }]])
}

async function setUserImpact(cumulVolPriceImpactMultiplier: number, fixedSpreadP: number): Promise<void> {
  const settings = { cumulVolPriceImpactMultiplier, fixedSpreadP, __placeholder: 0n }
  await world().configure('setUserPriceImpact', [ALICE.address, BigInt(LINK), settings])
}

/** 30 bands with non-decreasing shares; equal neighbours are empty bands. The last share is the whole book. */
const bookArbitrary: fc.Arbitrary<Book> = fc.record({
  shares: fc
    .array(fc.integer({ min: 0, max: 10_000 }), { minLength: 29, maxLength: 29 })
    .map((shares) => [...shares.toSorted((a, b) => a - b), 10_000]),
  offsets: fc
    .array(fc.integer({ min: 0, max: 65_535 }), { minLength: 30, maxLength: 30 })
    .map((offsets) => offsets.toSorted((a, b) => a - b)),
  totalUsd: fc.integer({ min: 1_000, max: 2 ** 32 - 1 }),
})

describe('depth bands', () => {
  it('give the average fill of a second implementation, for sizes from a cent to four times the book', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    const size = fc.bigInt({ min: 10n ** 16n, max: 4_000_000n * E18 })
    await fc.assert(
      fc.asyncProperty(size, fc.boolean(), async (size18, long) => {
        const expected = impactOf(LISTED, 0n, size18)
        assert.equal(await impact(long, size18), long ? expected : -expected)
      }),
      { numRuns: 100 },
    )
  })

  it('do so for any bands and offsets', async () => {
    const sizes = fc.array(fc.bigInt({ min: 1n, max: 10n ** 10n * E18 }), { minLength: 5, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(bookArbitrary, sizes, async (book, sizes18) => {
        const { slot1, slot2 } = packBands(book.shares, book.totalUsd)
        const bands = { aboveSlot1: slot1, aboveSlot2: slot2, belowSlot1: 0n, belowSlot2: 0n }
        const mapping = packBands(book.offsets)
        await world().configure('setDepthBands', [[BigInt(LINK)], [bands]])
        await world().configure('setDepthBandsMapping', [mapping.slot1, mapping.slot2])
        for (const size18 of sizes18) assert.equal(await impact(true, size18), impactOf(book, 0n, size18))
        assert.equal(await impact(false, E18), 0n, 'no bands below')
        const [aboveUsd, belowUsd, above] = await world().read('getPairDepthBandsDecoded', [BigInt(LINK)])
        assert.deepEqual([aboveUsd, belowUsd, above], [BigInt(book.totalUsd), 0n, book.shares])
        assert.deepEqual(await world().read('getDepthBandsMappingDecoded', []), book.offsets)
      }),
      { numRuns: 20 },
    )
  })

  it('move the price and the token size of a real trade; the skew moves the price only', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await openPosition(world(), BOB, { pairIndex: LINK, long: false, collateralAmount: usdc(6_000) })
    await world().configure('setSkewDepths', [USDC, [LINK], [tokens(1_000)]])
    const { outcome } = await openPosition(world(), ALICE, { pairIndex: LINK, collateralAmount: usdc(3_000) })
    const { priceImpact, t } = onlyEvent(outcome, 'MarketExecuted')
    const cumul = impactOf(LISTED, 0n, 30_000n * E18)
    assert.equal(priceImpact.cumulVolPriceImpactP, cumul)
    const beforeSkew = usd(60_000) + (usd(60_000) * cumul) / P10 / 100n
    assert.equal(t.positionSizeToken, (30_000n * E18 * P10) / beforeSkew)
    const { oiShortToken } = await world().read('getPairOiAfterV10Token', [USDC, LINK])
    const skew = ((-oiShortToken + t.positionSizeToken / 2n) * P10) / tokens(1_000) / 2n
    assert.ok(skew < 0n, 'a trade that reduces the skew gets a better price')
    assert.equal(priceImpact.skewPriceImpactP, skew)
    assert.equal(t.openPrice, usd(60_000) + (usd(60_000) * (cumul + skew)) / P10 / 100n)
  })
})

describe('traded volume', () => {
  it('counts for its side until its window rolls out', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await openPosition(world(), BOB, { pairIndex: LINK, collateralAmount: usdc(5_000) })
    const volume = (long: boolean) => world().read('getPriceImpactOi', [BigInt(LINK), long])
    assert.deepEqual([await volume(true), await volume(false)], [50_000n * E18, 0n])
    assert.equal(await impact(true, 1_000n * E18), impactOf(LISTED, 50_000n * E18, 1_000n * E18))
    assert.equal(await impact(false, 1_000n * E18), -impactOf(LISTED, 0n, 1_000n * E18))
    // Windows start at multiples of their duration; the last second in which the volume counts is the end of the
    // fourth.
    const intoWindow = world().chain.head().timestampS % WINDOW_S
    await passTime(world(), WINDOWS * WINDOW_S - intoWindow - 1)
    assert.equal(await volume(true), 50_000n * E18)
    await passTime(world(), 1)
    assert.equal(await volume(true), 0n)
  })

  it('of a close counts on the other side, at a loss times negPnlCumulVolMultiplier', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await world().configure('setOiWindows', [
      { startTs: 0, windowsDuration: WINDOW_S, windowsCount: WINDOWS },
      3n * 10n ** 9n,
    ])
    const volume = () => world().read('getPriceImpactOi', [BigInt(LINK), false])
    for (const [price, expected] of [
      [usd(59_900), 300n],
      [usd(61_000), 1_300n],
    ] as const) {
      const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
      const { orderId } = await requestClose(world(), ALICE, index, price)
      await world().answer(orderId, price)
      assert.equal(await volume(), expected * E18)
    }
  })

  it('weighs by the cumulative factor', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await openPosition(world(), BOB, { pairIndex: LINK, collateralAmount: usdc(5_000) })
    await setFactors({ cumulativeFactor: 2_500_000_000n })
    assert.equal(await impact(true, E18), impactOf(LISTED, 12_500n * E18, E18))
  })
})

describe('factors', () => {
  const size18 = 100_000n * E18
  const plain = -impactOf(LISTED, 0n, size18)
  const closeImpact = (isPnlPositive: boolean, lastIncrease: bigint) =>
    impact(true, size18, false, isPnlPositive, lastIncrease)
  const head = () => BigInt(world().chain.head().number)

  it('protect a close in profit for that many blocks after the last size increase', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await setFactors({ protectionCloseFactorBlocks: 100 })
    await world().chain.request('hardhat_mine', ['0x65'])
    const guarded = -impactOf(LISTED, 0n, size18, PAIR_FACTORS.protectionCloseFactor)
    assert.equal(await closeImpact(true, head() - 100n), guarded)
    assert.equal(await closeImpact(true, head() - 101n), plain)
    assert.equal(await closeImpact(false, head()), plain, 'not in profit')
    assert.equal(await impact(false, size18, true, true, head()), plain, 'not a close')
    await world().configure('setProtectionCloseFactorWhitelist', [ALICE.address, true])
    assert.equal(await closeImpact(true, head()), plain, 'whitelisted')
  })

  it('decide the price of a real close: protected while the profit survives, plain after the blocks have passed', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await setFactors({ protectionCloseFactorBlocks: 50 })
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const closed = async () => {
      const { orderId } = await requestClose(world(), ALICE, index, usd(61_000))
      return onlyEvent(await world().answer(orderId, usd(61_000)), 'MarketExecuted').priceImpact.cumulVolPriceImpactP
    }
    const snapshotId = await world().snapshot()
    assert.equal(await closed(), -impactOf(LISTED, 0n, 1_000n * E18, PAIR_FACTORS.protectionCloseFactor))
    await world().restore(snapshotId)
    await mineBlocks(world(), 50)
    assert.equal(await closed(), -impactOf(LISTED, 0n, 1_000n * E18))
  })

  it('exempt opens, or closes that are not protected', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await setFactors({ exemptOnOpen: true })
    assert.equal(await impact(true, size18), 0n)
    assert.equal(await closeImpact(false, head()), plain)
    await setFactors({ exemptAfterProtectionCloseFactor: true })
    assert.equal(await impact(true, size18), -plain)
    assert.equal(await closeImpact(false, head()), 0n)
    assert.equal(await closeImpact(true, head()), -impactOf(LISTED, 0n, size18, PAIR_FACTORS.protectionCloseFactor))
  })

  it('of one trader multiply the impact (after the protection factor, one truncation) and widen the spread', async () => {
    await setDepth(world(), LINK, LISTED.totalUsd)
    await setUserImpact(1_333, 250)
    assert.equal(await impact(true, size18), impactOf(LISTED, 0n, size18, (P10 * 1_333n) / 1_000n))
    const factor = (PAIR_FACTORS.protectionCloseFactor * 1_333n) / 1_000n
    assert.equal(await closeImpact(true, head()), -impactOf(LISTED, 0n, size18, factor))
    assert.equal(await world().read('pairSpreadP', [ALICE.address, BigInt(LINK)]), 2_500_000_000n)
    assert.equal(await world().read('pairSpreadP', [BOB.address, BigInt(LINK)]), 0n)
    await flatten(world(), LINK)
    const { outcome } = await openPosition(world(), ALICE, { pairIndex: LINK })
    assert.equal(onlyEvent(outcome, 'MarketExecuted').t.openPrice, usd(60_075))
  })
})
