import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { borrowingV1At } from './campaign/checks/borrowingV1.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BOB,
  flatten,
  gainOf,
  LINK,
  mineBlocks,
  openPosition,
  readLiquidationPrice,
  requestClose,
  requestOpen,
  setBorrowingGroup,
  setBorrowingV1,
  setMaxOi,
  usd,
  usdc,
  USDC,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const PRICE = usd(15)
/** 0.0001 % a block while the net open interest is all of the limit. */
const FEE_PER_BLOCK = 1_000_000

/** LINK with a limit of 1,000,000 USDC a side: 100,000 USDC net is a tenth of it. */
const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
  await setMaxOi(prepared, LINK, 1_000_000n)
})

const head = () => BigInt(world().chain.head().number)
const accOf = async (blockNumber: bigint, price = PRICE) => {
  const [long, short] = await world().read('getBorrowingPairPendingAccFees', [USDC, LINK, blockNumber, price])
  return { long, short }
}

async function open(long: boolean, sizeUsdc: number): Promise<number> {
  const terms = { pairIndex: LINK, openPrice: PRICE, leverage: 100_000, collateralAmount: usdc(sizeUsdc) / 100n, long }
  return (await openPosition(world(), long ? ALICE : BOB, terms)).index
}

async function feesOf(trader: typeof ALICE, index: number) {
  return world().read('getTradePendingHoldingFeesCollateral', [trader.address, index, PRICE])
}

describe('borrowing of the first generation', () => {
  it('charges a tenth of the fee per block while a tenth of the limit is net: 100,000 USDC pay 0.1 a block', async () => {
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK })
    const index = await open(true, 100_000)
    const start = head()
    assert.deepEqual(await accOf(start), { long: 0n, short: 0n })
    await mineBlocks(world(), 1_000)
    assert.deepEqual(await accOf(start + 1_000n), { long: 99_999_000n, short: 0n }, 'truncated tokens are worth less')
    const fees = await feesOf(ALICE, index)
    const blocks = head() - start
    const acc = await accOf(start + blocks)
    assert.equal(fees.borrowingFeeCollateral_old, (usdc(100_000) * acc.long) / 10n ** 12n)
    assert.equal(fees.totalFeeCollateral, fees.borrowingFeeCollateral_old)
    assert.ok(fees.borrowingFeeCollateral_old >= 9_999_900n && fees.borrowingFeeCollateral_old <= 10_100_000n)
  })

  it('is paid at the close and told by HoldingFeesChargedOnTrade, which sends it to the vault', async () => {
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK })
    const index = await open(true, 100_000)
    await mineBlocks(world(), 1_000)
    const { orderId } = await requestClose(world(), ALICE, index, PRICE)
    let paid = 0n
    const gained = await gainOf(world(), ALICE.address, async () => {
      const closed = await world().answer(orderId, PRICE)
      const charged = onlyEvent(closed, 'HoldingFeesChargedOnTrade')
      paid = charged.tradeHoldingFees.borrowingFeeCollateral_old
      const opening = (usdc(100_000) * 6n) / 10_000n
      assert.equal(charged.amountSentToVaultCollateral, paid)
      assert.equal(charged.newRealizedTradingFeesCollateral, opening + paid)
      assert.equal(charged.availableCollateralInDiamond, usdc(1_000) - opening)
      assert.equal(onlyEvent(closed, 'MarketExecuted').amountSentToTrader, usdc(1_000) - 2n * opening - paid)
    })
    assert.ok(paid > usdc(10))
    assert.equal(gained, usdc(1_000) - (2n * usdc(100_000) * 6n) / 10_000n - paid)
    const [ui] = await world().read('getTradeUiRealizedPnlDataArray', [[ALICE.address], [index]])
    assert.equal(ui!.realizedOldBorrowingFeesCollateral, paid)
  })

  it('moves the liquidation price', async () => {
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK })
    const index = await open(true, 100_000)
    const liqPrice = () => readLiquidationPrice(world(), ALICE.address, index, PRICE)
    const owedBefore = (await feesOf(ALICE, index)).borrowingFeeCollateral_old
    const before = await liqPrice()
    await mineBlocks(world(), 1_000)
    const owed = (await feesOf(ALICE, index)).borrowingFeeCollateral_old - owedBefore
    assert.ok(owed > usdc(9))
    assert.equal((await liqPrice()) - before, (PRICE * owed) / usdc(100_000))
  })

  it('takes the larger of pair and group, and starts anew when the position changes', async () => {
    await setBorrowingGroup(world(), 3, { feePerBlock: 5 * FEE_PER_BLOCK, maxUsdc: 1_000_000n })
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK, groupIndex: 3 })
    const index = await open(true, 100_000)
    const oi = await world().read('getBorrowingGroupOi', [USDC, 3])
    assert.deepEqual([oi.long, oi.short, oi.max], [100_000n * 10n ** 10n, 0n, 1_000_000n * 10n ** 10n])
    await mineBlocks(world(), 100)
    const [group] = await world().read('getBorrowingGroupPendingAccFees', [USDC, 3, head()])
    const acc = await accOf(head())
    assert.ok(group > 4n * acc.long)
    const { borrowingFeeCollateral_old: fee } = await feesOf(ALICE, index)
    assert.ok(fee >= (usdc(100_000) * group) / 10n ** 12n)
    const sent = await world().send(ALICE, 'decreasePositionSize', [index, usdc(500), 0, PRICE])
    const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, PRICE)
    const { initialPairAccFee, initialGroupAccFee } = onlyEvent(outcome, 'BorrowingInitialAccFeesStored')
    assert.equal(onlyEvent(outcome, 'BorrowingPairAccFeesUpdated').accFeeLong, initialPairAccFee)
    assert.equal(onlyEvent(outcome, 'BorrowingGroupAccFeesUpdated').accFeeLong, initialGroupAccFee)
    const { delta, increase, newOiLong } = onlyEvent(outcome, 'BorrowingGroupOiUpdated')
    assert.deepEqual([delta, increase, newOiLong], [50_000n * 10n ** 10n, false, 50_000n * 10n ** 10n])
    const initial = await world().read('getBorrowingInitialAccFees', [USDC, ALICE.address, index])
    assert.deepEqual([initial.accPairFee, initial.accGroupFee], [initialPairAccFee, initialGroupAccFee])
    assert.equal(BigInt(initial.block), outcome.blockNumber)
    assert.ok((await feesOf(ALICE, index)).borrowingFeeCollateral_old < usdc('0.1'))
  })

  it('sums what the pair owed in each group it was in while the trade was open', async () => {
    await setBorrowingGroup(world(), 3, { feePerBlock: 5 * FEE_PER_BLOCK, maxUsdc: 1_000_000n })
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK })
    const index = await open(true, 100_000)
    await mineBlocks(world(), 100)
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK, groupIndex: 3 })
    const [entered] = await world().read('getBorrowingPairGroups', [USDC, LINK])
    await mineBlocks(world(), 100)
    await setBorrowingV1(world(), LINK, { feePerBlock: FEE_PER_BLOCK, groupIndex: 0 })
    const groups = await world().read('getBorrowingPairGroups', [USDC, LINK])
    assert.equal(groups.length, 2)
    const inGroup = groups[1]!.prevGroupAccFeeLong - entered!.initialAccFeeLong
    const { long: acc } = await accOf(head())
    // The pair is not accrued when it changes its group, so the time before counts as time in the first group as well.
    const fee = await feesOf(ALICE, index)
    const expectedP = inGroup + acc
    const expected = (usdc(100_000) * expectedP) / 10n ** 12n
    const perBlock = (usdc(100_000) * BigInt(FEE_PER_BLOCK)) / 10n / 10n ** 12n
    assert.ok(fee.borrowingFeeCollateral_old - expected <= perBlock)
    assert.ok(fee.borrowingFeeCollateral_old >= expected)
  })

  it('refuses what would take a side of the group beyond its limit', async () => {
    await setBorrowingGroup(world(), 3, { feePerBlock: 0, maxUsdc: 150_000n })
    await setBorrowingV1(world(), LINK, { groupIndex: 3 })
    await open(true, 100_000)
    const within = (size: bigint) => world().read('withinMaxBorrowingGroupOi', [USDC, LINK, true, size])
    assert.deepEqual([await within(usdc(50_000)), await within(usdc(50_000) + 1n)], [true, false])
    const terms = { pairIndex: LINK, openPrice: PRICE, leverage: 100_000, collateralAmount: usdc(501) }
    const { orderId } = await requestOpen(world(), ALICE, terms)
    assert.equal(onlyEvent(await world().answer(orderId, PRICE), 'MarketOpenCanceled').cancelReason, 6)
    await open(false, 100_000)
  })

  it('follows a second implementation through random sides, caps, exponents, limits and blocks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          longUsdc: fc.integer({ min: 0, max: 90_000 }),
          shortUsdc: fc.integer({ min: 0, max: 90_000 }),
          feePerBlock: fc.integer({ min: 0, max: 4_000_000_000 }),
          feeExponent: fc.integer({ min: 0, max: 3 }),
          minP: fc.integer({ min: 0, max: 30_000 }),
          maxP: fc.integer({ min: 30_000, max: 100_000 }),
          maxUsdc: fc.bigInt({ min: 90_000n, max: 100_000_000n }),
          blocks: fc.integer({ min: 1, max: 100_000 }),
          price: fc.bigInt({ min: usd(10), max: usd(20) }),
        }),
        async ({ longUsdc, shortUsdc, feePerBlock, feeExponent, minP, maxP, maxUsdc, blocks, price }) => {
          const snapshotId = await world().snapshot()
          await setMaxOi(world(), LINK, maxUsdc)
          await setBorrowingV1(world(), LINK, { feePerBlock, feeExponent, minP, maxP })
          if (longUsdc > 2_000) await open(true, longUsdc)
          if (shortUsdc > 2_000) await open(false, shortUsdc)
          const data = await world().read('getBorrowingPair', [USDC, LINK])
          const oi = await world().read('getPairOiAfterV10Token', [USDC, LINK])
          const block = head() + BigInt(blocks)
          const inCollateral = (tokens: bigint) => (tokens * price) / 10n ** 22n
          const expected = borrowingV1At(
            {
              data,
              oi: { long: inCollateral(oi.oiLongToken), short: inCollateral(oi.oiShortToken) },
              maxOi: maxUsdc * 10n ** 10n,
              cap: { minP, maxP },
              precision: 10n ** 6n,
            },
            block,
          )
          const { long, short } = await accOf(block, price)
          assert.deepEqual({ accFeeLong: long, accFeeShort: short }, expected)
          await world().restore(snapshotId)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('is on for three pairs of the local listing, with the values of the public sample', async () => {
    const [pairs, , groups] = await world().read('getAllBorrowingPairs', [USDC])
    const charged = pairs.flatMap(({ feePerBlock }, pair) => (feePerBlock > 0 ? [[pair, feePerBlock]] : []))
    assert.deepEqual(charged, [
      [1, 3_560],
      [21, 981],
      [33, 5_388],
    ])
    assert.deepEqual(
      [1, 21, 33].map((pair) => groups[pair]!.map(({ groupIndex }) => groupIndex)),
      [[1], [4], [2]],
    )
    assert.deepEqual(await world().read('getBorrowingPairFeePerBlockCap', [USDC, 1]), { minP: 12_300, maxP: 80_000 })
    assert.deepEqual(await world().read('getBorrowingPairFeePerBlockCap', [USDC, 0]), { minP: 0, maxP: 100_000 })
  })
})
