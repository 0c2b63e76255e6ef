import assert from 'node:assert/strict'
import type { WorldEvent } from '../../world.ts'
import type { ViewResult } from '../codec.ts'
import { scaleOf } from '../formulas.ts'
import type { Ground, Receipt } from '../ground.ts'
import { bookOf, type Book, type Snapshot } from '../snapshot.ts'
import { borrowingV1At } from './borrowingV1.ts'

type FundingParams = ViewResult<'getPairFundingFeeParams'>[number]
type Funding = { long: bigint; short: bigint; rate: bigint }
/** The time and the prices of the pair (1e10) and the collateral (1e8) at which fees accrue. */
type Moment = { nowS: number; price: bigint; collateralPriceUsd: bigint }

const YEAR_S = 31_536_000n
const ONE = 10n ** 20n

/** Checks that funding and borrowing never go back in time, and are updated exactly when the events say so. */
export function checkAccruals(before: Snapshot, after: Snapshot, events: readonly WorldEvent[], nowS: number): void {
  const stored = new Set<string>()
  for (const { eventName, args } of events) {
    if (eventName === 'PendingAccFundingFeesStored') stored.add(`${args.collateralIndex}/${args.pairIndex}`)
  }
  for (const book of after.books) {
    const { collateralIndex, pairIndex } = book
    const old = bookOf(before, collateralIndex, pairIndex)
    if (stored.has(`${collateralIndex}/${pairIndex}`)) {
      assert.equal(book.funding.lastFundingUpdateTs, nowS)
      assert.equal(book.borrowing.lastBorrowingUpdateTs, nowS)
    } else {
      assert.deepEqual([book.funding, book.borrowing], [old.funding, old.borrowing], 'accrued without an event')
    }
  }
}

/** Checks that the accumulators that an answer updated moved as the formulas say. */
export async function checkAccumulators(before: Snapshot, receipt: Receipt, ground: Ground): Promise<void> {
  const { events } = receipt
  const callback = events.find(({ eventName }) => eventName === 'TradingCallbackExecuted')
  if (callback?.eventName !== 'TradingCallbackExecuted') return
  const price = callback.args.a.current
  for (const event of events) {
    if (event.eventName === 'PendingAccFundingFeesStored') {
      const { collateralIndex, pairIndex, data } = event.args
      const [params] = await ground.read('getPairFundingFeeParams', [[collateralIndex], [pairIndex]])
      const { priceUsd: collateralPriceUsd } = scaleOf(ground, collateralIndex)
      const at = { nowS: data.lastFundingUpdateTs, price, collateralPriceUsd }
      const expected = fundingAt(bookOf(before, collateralIndex, pairIndex), params!, at)
      const { accFundingFeeLongP: long, accFundingFeeShortP: short, lastFundingRatePerSecondP: rate } = data
      assert.deepEqual({ long, short, rate: BigInt(rate) }, expected, 'the funding accumulators')
    }
    if (event.eventName === 'PendingAccBorrowingFeesStored') {
      const { collateralIndex, pairIndex, data } = event.args
      const [params] = await ground.read('getPairBorrowingFeeParams', [[collateralIndex], [pairIndex]])
      const { accBorrowingFeeP, lastBorrowingUpdateTs } = bookOf(before, collateralIndex, pairIndex).borrowing
      const elapsedS = lastBorrowingUpdateTs === 0 ? 0 : data.lastBorrowingUpdateTs - lastBorrowingUpdateTs
      const accrued: bigint = BigInt(params!.borrowingRatePerSecondP) * BigInt(elapsedS) * price
      assert.equal(data.accBorrowingFeeP, accBorrowingFeeP + accrued, 'the borrowing accumulator')
    }
    if (event.eventName === 'BorrowingPairAccFeesUpdated') {
      const { collateralIndex, pairIndex, accFeeLong, accFeeShort, currentBlock } = event.args
      const terms = await pairTerms(bookOf(before, collateralIndex, pairIndex), receipt, ground, price)
      const expected = borrowingV1At(terms, currentBlock)
      assert.deepEqual({ accFeeLong, accFeeShort }, expected, 'the first-generation accumulators of a pair')
    }
    if (event.eventName === 'BorrowingGroupAccFeesUpdated') {
      const { collateralIndex, groupIndex, accFeeLong, accFeeShort, currentBlock } = event.args
      const expected = borrowingV1At(await groupTerms(receipt, ground, collateralIndex, groupIndex), currentBlock)
      assert.deepEqual({ accFeeLong, accFeeShort }, expected, 'the first-generation accumulators of a group')
    }
  }
}

/** Returns the terms of a pair as they were in the block before: open interest in tokens at the oracle's price. */
async function pairTerms(
  { collateralIndex, pairIndex, oiToken }: Book,
  receipt: Receipt,
  ground: Ground,
  price: bigint,
) {
  const { delta, precision } = scaleOf(ground, collateralIndex)
  const [data, maxOi, cap] = await Promise.all([
    ground.read('getBorrowingPair', [collateralIndex, pairIndex], receipt.blockNumber - 1),
    ground.read('getPairMaxOi', [collateralIndex, pairIndex]),
    ground.read('getBorrowingPairFeePerBlockCap', [collateralIndex, pairIndex]),
  ])
  const inCollateral = (tokens: bigint) => (tokens * price) / 10n ** 10n / delta
  const oi = { long: inCollateral(oiToken.oiLongToken), short: inCollateral(oiToken.oiShortToken) }
  return { data, oi, maxOi, cap, precision }
}

/** Returns the terms of a group as they were in the block before: open interest in collateral, and no caps. */
async function groupTerms({ blockNumber }: Receipt, ground: Ground, collateralIndex: number, groupIndex: number) {
  const { precision } = scaleOf(ground, collateralIndex)
  const [data, { long, short, max }] = await Promise.all([
    ground.read('getBorrowingGroup', [collateralIndex, groupIndex], blockNumber - 1),
    ground.read('getBorrowingGroupOi', [collateralIndex, groupIndex], blockNumber - 1),
  ])
  const inCollateral = (amount: bigint) => (amount * precision) / 10n ** 10n
  const oi = { long: inCollateral(long), short: inCollateral(short) }
  return { data, oi, maxOi: max, cap: { minP: 0, maxP: 0 }, precision }
}

/**
 * Returns funding at a moment. The rate moves with the skew up to its cap. With the APR multiplier a change of sign
 * splits the time: up to zero at half of the old rate, from there on at half of the new one.
 */
function fundingAt({ funding, oiToken }: Book, params: FundingParams, at: Moment): Funding {
  const { accFundingFeeLongP: long, accFundingFeeShortP: short, lastFundingUpdateTs } = funding
  const last = BigInt(funding.lastFundingRatePerSecondP)
  const state: Funding = { long, short, rate: last }
  if (!params.fundingFeesEnabled || lastFundingUpdateTs === 0) return state

  const elapsedS = BigInt(at.nowS - lastFundingUpdateTs)
  const net = oiToken.oiLongToken - oiToken.oiShortToken
  const velocity = velocityOf(params, net, at.price, at.collateralPriceUsd)
  const { rate, average } = rateAfter(params, last, velocity, elapsedS)
  if (!params.aprMultiplierEnabled || last * rate >= 0n) {
    return { ...accrue(state, params, oiToken, average, elapsedS, at.price), rate }
  }
  const toZeroS = (-last * YEAR_S) / velocity / 10n ** 8n
  const turned = accrue(state, params, oiToken, last / 2n, toZeroS, at.price)
  return { ...accrue(turned, params, oiToken, rate / 2n, elapsedS - toZeroS, at.price), rate }
}

/** Returns the change of the rate per year. The skew is converted to USD (1e10), because the threshold is in USD. */
function velocityOf(params: FundingParams, net: bigint, price: bigint, collateralPriceUsd: bigint): bigint {
  const size = net < 0n ? -net : net
  const usd = (((size * price) / 10n ** 18n) * collateralPriceUsd) / 10n ** 8n
  if (usd < BigInt(params.thetaThresholdUsd) * 10n ** 10n) return 0n
  const uncapped = (size * params.skewCoefficientPerYear) / 10n ** 34n
  const cap = BigInt(params.absoluteVelocityPerYearCap) * 1_000n
  const velocity = uncapped < cap ? uncapped : cap
  return net < 0n ? -velocity : velocity
}

function rateAfter(params: FundingParams, last: bigint, velocity: bigint, elapsedS: bigint) {
  if (params.absoluteRatePerSecondCap === 0) return { rate: 0n, average: 0n }
  if (velocity === 0n || elapsedS === 0n) return { rate: last, average: last }
  const cap = BigInt(params.absoluteRatePerSecondCap) * 10n ** 8n * (velocity < 0n ? -1n : 1n)
  if (last === cap) return { rate: cap, average: cap }
  const toCapS = ((cap - last) * YEAR_S) / velocity / 10n ** 8n
  if (elapsedS > toCapS) {
    return { rate: cap, average: (((last + cap) / 2n) * toCapS + cap * (elapsedS - toCapS)) / elapsedS }
  }
  const rate = last + (elapsedS * velocity * 10n ** 8n) / YEAR_S
  return { rate, average: (last + rate) / 2n }
}

function accrue(
  { long, short, rate }: Funding,
  params: FundingParams,
  oi: Book['oiToken'],
  average: bigint,
  elapsedS: bigint,
  price: bigint,
): Funding {
  const delta = (average * elapsedS * price) / 10n ** 8n
  const { oiLongToken, oiShortToken } = oi
  const earned = (paying: bigint, earning: bigint): bigint => {
    const ratio = params.aprMultiplierEnabled ? (paying * ONE) / earning : ONE
    return ratio > 100n * ONE ? 100n * ONE : ratio
  }
  const longFactor = oiLongToken === 0n ? 0n : average > 0n ? ONE : earned(oiShortToken, oiLongToken)
  const shortFactor = oiShortToken === 0n ? 0n : average > 0n ? earned(oiLongToken, oiShortToken) : ONE
  return { long: long + (delta * longFactor) / ONE, short: short - (delta * shortFactor) / ONE, rate }
}
