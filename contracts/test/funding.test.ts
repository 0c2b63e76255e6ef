import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BOB,
  flatten,
  LINK,
  openPosition,
  passTime,
  readLiquidationPrice,
  requestClose,
  setBorrowingRate,
  setFunding,
  tokens,
  usd,
  usdc,
  USDC,
  type Funding,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const PRICE = usd(15)
const YEAR_S = 31_536_000n
const ONE = 10n ** 20n

type State = { accLong: bigint; accShort: bigint; rate: bigint }
type Oi = { oiLongToken: bigint; oiShortToken: bigint }

const abs = (value: bigint) => (value < 0n ? -value : value)
const sign = (value: bigint) => (value < 0n ? -1n : 1n)

/** Returns the change of the rate per year (1e10), from the skew. */
function velocityOf(p: Funding, net: bigint, price: bigint): bigint {
  // The collateral is USDC, so the skew in collateral equals the skew in USD.
  if ((abs(net) * price) / 10n ** 18n < BigInt(p.thetaThresholdUsd) * 10n ** 10n) return 0n
  const wanted = (abs(net) * p.skewCoefficientPerYear) / 10n ** 34n
  const cap = BigInt(p.absoluteVelocityPerYearCap) * 1_000n
  return sign(net) * (wanted < cap ? wanted : cap)
}

/** Returns the rate after a period and its average on the way: linear up to the cap, then flat. */
function stretch(p: Funding, rate: bigint, velocity: bigint, seconds: bigint): { end: bigint; average: bigint } {
  if (velocity === 0n || seconds === 0n) return { end: rate, average: rate }
  const cap = sign(velocity) * BigInt(p.absoluteRatePerSecondCap) * 10n ** 8n
  const end = rate + (seconds * velocity * 10n ** 8n) / YEAR_S
  const isCapped = velocity > 0n ? end > cap : end < cap
  if (!isCapped) return { end, average: (rate + end) / 2n }
  const rampS = ((cap - rate) * YEAR_S) / (velocity * 10n ** 8n)
  return { end: cap, average: (((rate + cap) / 2n) * rampS + cap * (seconds - rampS)) / seconds }
}

/**
 * Returns the factors of both sides' accumulators: zero without open interest. With the APR multiplier the earning side
 * shares the amount that is paid.
 */
function multipliersOf(p: Funding, { oiLongToken, oiShortToken }: Oi, longsPay: boolean): [bigint, bigint] {
  const share = (other: bigint, own: bigint) => {
    if (own === 0n) return 0n
    if (!p.aprMultiplierEnabled) return ONE
    const ratio = (other * ONE) / own
    return ratio > 100n * ONE ? 100n * ONE : ratio
  }
  const plain = (own: bigint) => (own === 0n ? 0n : ONE)
  return longsPay
    ? [plain(oiLongToken), share(oiLongToken, oiShortToken)]
    : [share(oiShortToken, oiLongToken), plain(oiShortToken)]
}

/**
 * Computes funding a second time, from its specification. With the APR multiplier a change of sign splits the time at a
 * whole second; each part counts half of the rate at its end that is not zero.
 */
function advance(p: Funding, state: State, oi: Oi, seconds: bigint, price: bigint): State {
  if (!p.fundingFeesEnabled || seconds === 0n) return state
  const velocity = velocityOf(p, oi.oiLongToken - oi.oiShortToken, price)
  const { end, average } = stretch(p, state.rate, velocity, seconds)
  const turns = p.aprMultiplierEnabled && state.rate * end < 0n
  const toZeroS = turns ? (abs(state.rate) * YEAR_S) / (abs(velocity) * 10n ** 8n) : 0n
  const parts = turns
    ? [
        { average: state.rate / 2n, partS: toZeroS },
        { average: end / 2n, partS: seconds - toZeroS },
      ]
    : [{ average, partS: seconds }]
  let { accLong, accShort } = state
  for (const { average: partAverage, partS } of parts) {
    const [long, short] = multipliersOf(p, oi, partAverage > 0n)
    const delta = (partAverage * partS * price) / 10n ** 8n
    accLong += (delta * long) / ONE
    accShort -= (delta * short) / ONE
  }
  return { accLong, accShort, rate: end }
}

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
})

const start: State = { accLong: 0n, accShort: 0n, rate: 0n }
const openInterest = () => world().read('getPairOiAfterV10Token', [USDC, LINK])

async function pending(price = PRICE): Promise<State> {
  const [accLong, accShort, rate] = await world().read('getPairPendingAccFundingFees', [USDC, LINK, price])
  return { accLong, accShort, rate: BigInt(rate) }
}

async function open(long: boolean, sizeUsdc: number): Promise<number> {
  const terms = { pairIndex: LINK, openPrice: PRICE, leverage: 100_000, collateralAmount: usdc(sizeUsdc) / 100n, long }
  return (await openPosition(world(), long ? ALICE : BOB, terms)).index
}

const BASE: Funding = {
  skewCoefficientPerYear: 10n ** 26n,
  absoluteVelocityPerYearCap: 10_000_000,
  absoluteRatePerSecondCap: 3_170_978,
  thetaThresholdUsd: 0,
  fundingFeesEnabled: true,
  aprMultiplierEnabled: true,
}

describe('the funding rate', () => {
  it('follows a second implementation through random skews, caps, times and prices', async () => {
    const funding: fc.Arbitrary<Funding> = fc.record({
      skewCoefficientPerYear: fc.bigInt({ min: 0n, max: 10n ** 28n }),
      absoluteVelocityPerYearCap: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
      absoluteRatePerSecondCap: fc.integer({ min: 1, max: 3_170_979 }),
      thetaThresholdUsd: fc.constantFrom(0, 0, 50_000),
      fundingFeesEnabled: fc.constant(true),
      aprMultiplierEnabled: fc.boolean(),
    })
    const size = fc.integer({ min: 1_000, max: 1_000_000 })
    const elapsed = fc.integer({ min: 1, max: 100_000 })
    const price = fc.bigInt({ min: usd(5), max: usd(50) })
    await fc.assert(
      fc.asyncProperty(funding, fc.tuple(size, size, size), fc.tuple(elapsed, elapsed), price, async (...given) => {
        const [params, [longUsdc, shortUsdc, flipUsdc], [firstS, secondS], laterPrice] = given
        const snapshotId = await world().snapshot()
        await setFunding(world(), LINK, params)
        await open(true, longUsdc)
        await open(false, shortUsdc)
        await passTime(world(), firstS)
        const before = await openInterest()
        const expected = advance(params, start, before, BigInt(firstS), PRICE)
        assert.deepEqual(await pending(), expected)
        // A trade on the lighter side stores the accrued funding at the price of its own answer, and often reverses the
        // skew.
        await open(before.oiLongToken < before.oiShortToken, flipUsdc)
        await passTime(world(), secondS)
        const turned = advance(params, expected, await openInterest(), BigInt(secondS), laterPrice)
        assert.deepEqual(await pending(laterPrice), turned)
        await world().restore(snapshotId)
      }),
      { numRuns: 30 },
    )
  })

  it('stands still below theta, and when funding is off', async () => {
    await setFunding(world(), LINK, { ...BASE, thetaThresholdUsd: 10_000 })
    await open(true, 9_000)
    await passTime(world(), 10_000)
    assert.deepEqual(await pending(), start)
    await open(true, 1_000)
    const theta = await openInterest()
    await passTime(world(), 10_000)
    assert.ok(theta.oiLongToken * 15n < tokens(10_000), 'truncated sizes stay one unit below')
    assert.deepEqual(await pending(), start)
    assert.ok((await pending(PRICE + usd('0.001'))).rate > 0n, 'a higher price lifts the skew over theta')
    await setFunding(world(), LINK, { ...BASE, fundingFeesEnabled: false })
    await passTime(world(), 10_000)
    assert.deepEqual(await pending(), start)
  })

  it('stops at its cap and is averaged over the time on the way and the time there', async () => {
    await setFunding(world(), LINK, { ...BASE, absoluteRatePerSecondCap: 1_000 })
    await open(true, 150_000)
    const { oiLongToken } = await openInterest()
    assert.equal(oiLongToken, tokens(10_000))
    // 10000 tokens x 1e26 / 1e34 = 1e14 a year, above the cap of 1e10: the rate reaches 1000e8 after 1000e8 x year /
    // 1e18 = 3.15 s.
    await passTime(world(), 100)
    const cap = 1_000n * 10n ** 8n
    const average = ((cap / 2n) * 3n + cap * 97n) / 100n
    const delta = (average * 100n * PRICE) / 10n ** 8n
    assert.deepEqual(await pending(), { accLong: delta, accShort: 0n, rate: cap })
  })

  it('turns around: who was paying earns', async () => {
    await setFunding(world(), LINK, BASE)
    const long = await open(true, 150_000)
    await open(false, 15_000)
    await passTime(world(), 1_000)
    const first = await pending()
    assert.ok(first.rate > 0n && first.accLong > 0n && first.accShort < 0n)
    // Shorts are a tenth of the longs, so each of them earns ten times what a long pays.
    assert.equal(first.accShort, -10n * first.accLong)
    await open(false, 1_500_000)
    await passTime(world(), 10_000)
    const second = await pending()
    assert.ok(second.rate < 0n && second.accLong < first.accLong)
    assert.ok((await world().read('getTradeFundingFeesCollateral', [ALICE.address, long, PRICE])) < 0n)
  })

  // 10,000 tokens long and 20,000 short at 15 USD: 3 s from the cap of 1e11 to zero and 6 s to the other cap, of 100 s.
  const turnAtTheCap = async (aprMultiplierEnabled: boolean): Promise<State> => {
    await setFunding(world(), LINK, { ...BASE, absoluteRatePerSecondCap: 1_000, aprMultiplierEnabled })
    await open(true, 150_000)
    await passTime(world(), 100)
    await open(false, 300_000)
    const before = await pending()
    assert.equal(before.rate, 10n ** 11n)
    await passTime(world(), 100)
    const { accLong, accShort, rate } = await pending()
    return { accLong: accLong - before.accLong, accShort: accShort - before.accShort, rate }
  }

  it('counts half of its rate after a turn that meets the cap, where the multiplier splits the time', async () => {
    const first = 225_000_000_000_000n // 1e11 / 2 x 3 s x 15
    const second = -7_275_000_000_000_000n // -1e11 / 2 x 97 s x 15, though the rate was at its cap for most of them
    assert.deepEqual(await turnAtTheCap(true), {
      accLong: first + 2n * second,
      accShort: -first / 2n - second,
      rate: -(10n ** 11n),
    })
  })

  it('counts the time at the cap in full where nothing splits it', async () => {
    const all = -14_100_000_000_000_000n // (0 x 6 s - 1e11 x 94 s) x 15
    assert.deepEqual(await turnAtTheCap(false), { accLong: all, accShort: -all, rate: -(10n ** 11n) })
  })

  it('multiplies by one hundred at most', async () => {
    await setFunding(world(), LINK, BASE)
    await open(true, 1_500_000)
    await open(false, 1_500)
    await passTime(world(), 1_000)
    const { accLong, accShort } = await pending()
    assert.equal(accShort, -100n * accLong)
  })
})

describe('holding fees of a trade', () => {
  it('are paid at the close: funding by longs to shorts, borrowing by both, from what accrued since the open', async () => {
    await setFunding(world(), LINK, { ...BASE, aprMultiplierEnabled: false })
    await setBorrowingRate(world(), LINK, 3_170)
    await open(true, 300_000)
    await passTime(world(), 5_000)
    const short = await open(false, 100_000) // owes nothing for the time before it
    const late = await world().read('getTradePendingHoldingFeesCollateral', [BOB.address, short, PRICE])
    assert.deepEqual([late.fundingFeeCollateral, late.borrowingFeeCollateral], [0n, 0n])
    await passTime(world(), 5_000)
    const fees = await world().read('getTradePendingHoldingFeesCollateral', [BOB.address, short, PRICE])
    assert.ok(fees.fundingFeeCollateral < 0n)
    assert.equal(fees.borrowingFeeCollateral, (usdc(100_000) * 3_170n * 5_000n) / 10n ** 12n)
    assert.equal(fees.totalFeeCollateral, fees.fundingFeeCollateral + fees.borrowingFeeCollateral)
    const { orderId } = await requestClose(world(), BOB, short, PRICE)
    const executed = onlyEvent(await world().answer(orderId, PRICE), 'MarketExecuted')
    const tradingFees = 2n * ((usdc(100_000) * 6n) / 10_000n)
    assert.equal(executed.amountSentToTrader, usdc(1_000) - tradingFees - fees.totalFeeCollateral)
  })

  it('move the liquidation price towards the open price', async () => {
    await setBorrowingRate(world(), LINK, 31_709)
    const index = await open(true, 100_000)
    const liqPrice = () => readLiquidationPrice(world(), ALICE.address, index, PRICE)
    const before = await liqPrice()
    await passTime(world(), 10_000)
    const owed = await world().read('getTradeBorrowingFeesCollateral', [ALICE.address, index, PRICE])
    assert.equal((await liqPrice()) - before, (PRICE * owed) / usdc(100_000))
  })
})
