import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WholeCollateral, type CollateralAmount } from '@bezel/protocol'
import fc from 'fast-check'
import { NO_OLD_BORROWING, type BorrowingPairGroup, type OldBorrowing, type PairState } from './chainState.ts'
import { oldBorrowingFeeCollateral, pendingGroupFees, pendingPairFees } from './oldBorrowing.ts'
import { price, QUIET_PAIR, tokens, TRADE, USDC, usdc } from './testing/fixtures.ts'

/** The pair lets 1,000,000 USDC stand on each side and takes 0.0001 % a block when one side has all of it. */
const MAX_OI = WholeCollateral.of(1_000_000n * 10n ** 10n)
const FEE = 1_000_000
const UPDATED = 100

function pairWith(long: number, short: number, changes: Partial<OldBorrowing> = {}, exponent = 1): PairState {
  const data = {
    feePerBlock: FEE,
    accFeeLong: 0n,
    accFeeShort: 0n,
    accLastUpdatedBlock: UPDATED,
    feeExponent: exponent,
  }
  return {
    ...QUIET_PAIR,
    oiLongToken: tokens(long),
    oiShortToken: tokens(short),
    maxOi: MAX_OI,
    oldBorrowing: { ...NO_OLD_BORROWING, data, ...changes },
  }
}

const pending = (pair: PairState, blocks: number) =>
  pendingPairFees({ pair, collateral: USDC, price: price(1), blockNumber: UPDATED + blocks })

describe('first-generation borrowing of a pair', () => {
  it('costs the heavier side its share of the maximum, per block', () => {
    // 300,000 of 1,000,000 net: 30 % of the fee, for ten blocks.
    assert.deepEqual(pending(pairWith(500_000, 200_000), 10), { longP: 3_000_000n, shortP: 0n })
    assert.deepEqual(pending(pairWith(200_000, 500_000), 10), { longP: 0n, shortP: 3_000_000n })
  })

  it('grows with the power of its exponent', () => {
    assert.equal(pending(pairWith(500_000, 200_000, {}, 2), 10).longP, 900_000n)
    assert.equal(pending(pairWith(500_000, 200_000, {}, 3), 10).longP, 270_000n)
  })

  it('counts open interest at the price, and that of trades from before v10 as it was opened', () => {
    const pair = { ...pairWith(100_000, 0), oiLongBeforeV10Collateral: usdc(100_000) }
    const at = (usd: number) =>
      pendingPairFees({ pair, collateral: USDC, price: price(usd), blockNumber: UPDATED + 10 })
    assert.deepEqual([at(1).longP, at(2).longP], [2_000_000n, 3_000_000n])
  })

  it('has a lower cap, which the lighter side pays too, and an upper one', () => {
    const capped = (long: number, short: number) =>
      pending(pairWith(long, short, { feePerBlockCap: { minP: 10_000, maxP: 40_000 } }), 10)
    assert.deepEqual(capped(500_000, 200_000), { longP: 3_000_000n, shortP: 1_000_000n })
    assert.deepEqual(capped(500_000, 499_000), { longP: 1_000_000n, shortP: 1_000_000n })
    assert.deepEqual(capped(900_000, 1), { longP: 4_000_000n, shortP: 1_000_000n })
    assert.deepEqual(capped(900_000, 0), { longP: 4_000_000n, shortP: 0n }, 'nobody is there to pay')
  })

  it('stands still without open interest, without a maximum, and before its last update', () => {
    const none = { longP: 0n, shortP: 0n }
    assert.deepEqual(pending(pairWith(0, 0), 10), none)
    assert.deepEqual(pending({ ...pairWith(5, 2), maxOi: WholeCollateral.zero }, 10), none)
    assert.deepEqual(pending(pairWith(500_000, 0), -5), none)
    assert.deepEqual(pending({ ...QUIET_PAIR, oiLongToken: tokens(5) }, 10), none)
  })

  it('never falls, and costs no more than the fee at the maximum', () => {
    const oi = fc.integer({ min: 0, max: 3_000_000 })
    fc.assert(
      fc.property(
        oi,
        oi,
        fc.integer({ min: 1, max: 3 }),
        fc.nat(1_000),
        fc.nat(1_000),
        (long, short, e, from, more) => {
          const pair = pairWith(long, short, {}, e)
          const [before, after] = [pending(pair, from), pending(pair, from + more)]
          assert.ok(after.longP >= before.longP && after.shortP >= before.shortP)
          assert.ok(after.longP + after.shortP <= BigInt(FEE) * BigInt(from + more))
        },
      ),
    )
  })
})

describe('first-generation borrowing of a trade', () => {
  const started = { accPairFee: 0n, accGroupFee: 0n, block: UPDATED }
  const feeOf = (pair: PairState, blocks: number, initial = started, long = true): CollateralAmount =>
    oldBorrowingFeeCollateral({ ...TRADE, long }, initial, {
      pair,
      collateral: USDC,
      price: price(1),
      blockNumber: UPDATED + blocks,
    })

  it('is its size times what its side has accrued since it began', () => {
    const pair = pairWith(1_000_000, 0)
    // 0.1 % of 1000 USDC after 1000 blocks; half of it for a trade that began in between.
    assert.equal(feeOf(pair, 1_000), usdc(1))
    assert.equal(feeOf(pair, 1_000, { ...started, accPairFee: 500_000_000n }), usdc(0.5))
    assert.equal(feeOf(pair, 1_000, started, false), 0n)
  })

  it('is never negative, when the pair was read before the trade', () => {
    assert.equal(feeOf(pairWith(1_000_000, 0), 0, { ...started, accPairFee: 500_000_000n }), 0n)
  })

  it('is the larger one of pair and group, since the trade began', () => {
    const group = {
      data: { ...pairWith(0, 0).oldBorrowing.data, feePerBlock: 2 * FEE },
      oi: { long: MAX_OI, short: WholeCollateral.zero, max: MAX_OI },
    }
    const inGroup = { pairGroups: [stay({ block: 50 })], group }
    assert.deepEqual(pendingGroupFees({ pair: pairWith(1, 0, inGroup), collateral: USDC, blockNumber: UPDATED + 10 }), {
      longP: 20_000_000n,
      shortP: 0n,
    })
    assert.equal(feeOf(pairWith(1_000_000, 0, inGroup), 1_000), usdc(2))
    const cheap = { ...group, data: { ...group.data, feePerBlock: FEE / 2 } }
    assert.equal(feeOf(pairWith(1_000_000, 0, { ...inGroup, group: cheap }), 1_000), usdc(1))
  })

  it('adds up the stays in groups that the trade has lived through, and the time before the first', () => {
    const group = {
      data: { ...NO_OLD_BORROWING.data, accFeeLong: 90_000_000_000n },
      oi: { long: WholeCollateral.zero, short: WholeCollateral.zero, max: MAX_OI },
    }
    const data = { ...NO_OLD_BORROWING.data, accFeeLong: 20_000_000_000n }
    const pairGroups = [
      // Until here the pair's own fee counted: 1 %.
      stay({ block: 200, pairAccFeeLong: 10_000_000_000n, initialAccFeeLong: 5_000_000_000n }),
      // The first group went from 0.5 to 4 %, the pair from 1 to 2 %.
      stay({
        block: 300,
        pairAccFeeLong: 20_000_000_000n,
        prevGroupAccFeeLong: 40_000_000_000n,
        initialAccFeeLong: 70_000_000_000n,
      }),
    ]
    const pair = pairWith(0, 0, { data, pairGroups, group })
    // 1 % + 3.5 % + 2 % (the second group went from 7 to 9 %) of 1000 USDC.
    assert.equal(feeOf(pair, 1_000), usdc(65))
    const late = { accPairFee: 20_000_000_000n, accGroupFee: 80_000_000_000n, block: 350 }
    assert.equal(feeOf(pair, 1_000, late), usdc(10), 'only what the second group added since')
    const between = { accPairFee: 15_000_000_000n, accGroupFee: 30_000_000_000n, block: 250 }
    assert.equal(feeOf(pair, 1_000, between), usdc(30), 'a part of the first stay, all of the second')
  })
})

function stay(of: Partial<BorrowingPairGroup>): BorrowingPairGroup {
  return {
    groupIndex: 1,
    block: 0,
    initialAccFeeLong: 0n,
    initialAccFeeShort: 0n,
    prevGroupAccFeeLong: 0n,
    prevGroupAccFeeShort: 0n,
    pairAccFeeLong: 0n,
    pairAccFeeShort: 0n,
    ...of,
  }
}
