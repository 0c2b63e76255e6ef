import assert from 'node:assert/strict'
import type { WorldEvent } from '../../world.ts'
import type { ViewResult } from '../codec.ts'
import { scaleOf } from '../formulas.ts'
import type { Ground, Receipt } from '../ground.ts'
import { bookOf, type Book, type Snapshot } from '../snapshot.ts'

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
export async function checkAccumulators(before: Snapshot, { events }: Receipt, ground: Ground): Promise<void> {
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
  }
}

/** Returns funding at a moment. The rate moves with the skew, and the paying side changes where it crosses zero. */
function fundingAt({ funding, oiToken }: Book, params: FundingParams, at: Moment): Funding {
  const { accFundingFeeLongP: long, accFundingFeeShortP: short, lastFundingUpdateTs } = funding
  let state: Funding = { long, short, rate: BigInt(funding.lastFundingRatePerSecondP) }
  let elapsedS = BigInt(at.nowS - lastFundingUpdateTs)
  if (!params.fundingFeesEnabled || lastFundingUpdateTs === 0 || elapsedS === 0n) return state

  const net = oiToken.oiLongToken - oiToken.oiShortToken
  const velocity = velocityOf(params, net, at.price, at.collateralPriceUsd)
  const opposes = state.rate * velocity < 0n
  const toZeroS = opposes ? (-state.rate * YEAR_S) / (velocity * 10n ** 8n) : 0n
  if (toZeroS > 0n && toZeroS < elapsedS) {
    state = { ...accrue(state, params, oiToken, velocity, toZeroS, at.price), rate: 0n }
    elapsedS -= toZeroS
  }
  return accrue(state, params, oiToken, velocity, elapsedS, at.price)
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

function accrue(
  { long, short, rate: from }: Funding,
  params: FundingParams,
  oi: Book['oiToken'],
  velocity: bigint,
  elapsedS: bigint,
  price: bigint,
): Funding {
  const cap = BigInt(params.absoluteRatePerSecondCap) * 10n ** 8n
  const uncapped = from + (elapsedS * velocity * 10n ** 8n) / YEAR_S
  const rate = uncapped > cap ? cap : uncapped < -cap ? -cap : uncapped
  const cappedAfterS = ((rate - from) * YEAR_S) / (velocity === 0n ? 1n : velocity * 10n ** 8n)
  const average =
    rate === uncapped
      ? (from + rate) / 2n
      : (((from + rate) / 2n) * cappedAfterS + rate * (elapsedS - cappedAfterS)) / elapsedS
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
