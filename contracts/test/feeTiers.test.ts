import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BOB,
  flatten,
  gainOf,
  LINK,
  openPosition,
  passTime,
  requestClose,
  requestOpen,
  usd,
  usdc,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const DAY_S = 86_400
const MILLION = 10n ** 24n

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
})

const today = () => Math.floor(world().chain.head().timestampS / DAY_S)
const feeOf = (fee: bigint) => world().read('calculateFeeAmount', [ALICE.address, fee])
const infoOf = () => world().read('getFeeTiersTraderInfo', [ALICE.address])
const dayOf = (day: number) => world().read('getFeeTiersTraderDailyInfo', [ALICE.address, day])

async function openAndClose(): Promise<void> {
  const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, collateralAmount: usdc(10_000) })
  const { orderId } = await requestClose(world(), ALICE, index)
  await world().answer(orderId, usd(60_000))
}

describe('fee tiers', () => {
  it('are those of the public sample: x0.975 from 6 million points on, x0.925 from 50, x0.75 from 2000', async () => {
    const tiers = await world().read('getFeeTiers', [])
    assert.equal(await world().read('getFeeTiersCount', []), 8n)
    assert.deepEqual(
      [tiers[0], tiers[2], tiers[7]],
      [
        { feeMultiplier: 975, pointsThreshold: 6_000_000 },
        { feeMultiplier: 925, pointsThreshold: 50_000_000 },
        { feeMultiplier: 750, pointsThreshold: 2_000_000_000 },
      ],
    )
    assert.deepEqual(await world().read('getFeeTier', [2n]), tiers[2])
    assert.equal(await world().read('getGroupVolumeMultiplier', [0n]), 6_000n)
  })

  it('multiply opening, closing and refusal fees of that trader only, never the closing fee in a liquidation price', async () => {
    await world().configure('setTraderPoints', [ALICE.address, 50n * MILLION])
    assert.equal(await feeOf(1_000_001n), 925_000n)
    const opened = await openPosition(world(), ALICE, { pairIndex: LINK, leverage: 40_000 })
    const fee = (usdc(4_000) * 6n) / 10_000n
    const paid = (fee * 925n) / 1_000n
    assert.equal(onlyEvent(opened.outcome, 'FeesProcessed').totalFeesCollateral, paid)
    const { liqPrice } = onlyEvent(opened.outcome, 'MarketExecuted')
    const allowed = (usdc(100) * 835_714_285_715n) / 10n ** 12n
    const distance = (usd(60_000) * (allowed - fee - paid)) / usdc(4_000)
    assert.ok(usd(60_000) - liqPrice - distance <= usd('0.0001'), 'truncated less')
    const { orderId } = await requestClose(world(), ALICE, opened.index)
    const gained = await gainOf(world(), ALICE.address, () => world().answer(orderId, usd(60_000)))
    assert.equal(gained, usdc(100) - 2n * paid)
    const refused = await requestOpen(world(), ALICE, { pairIndex: LINK })
    const charged = onlyEvent(await world().answer(refused.orderId, usd(70_000)), 'GovFeeCharged').amountCollateral
    assert.equal(charged, (((750_000n * 925n) / 1_000n / 2n) * 24_500n) / 100_000n)
    const other = await openPosition(world(), BOB, { pairIndex: LINK, leverage: 40_000 })
    assert.equal(onlyEvent(other.outcome, 'FeesProcessed').totalFeesCollateral, fee)
  })

  it('come from the volume of the thirty days before, and expire', async () => {
    // 2 x 100,000 USDC at six points a USD.
    await openAndClose()
    const first = today()
    assert.deepEqual(await infoOf(), { lastDayUpdated: first, trailingPoints: 0n })
    assert.deepEqual(await dayOf(first), { feeMultiplierCache: 0, points: 1_200_000n * 10n ** 18n })
    for (let day = 1; day <= 5; day += 1) {
      await passTime(world(), DAY_S)
      await openAndClose()
    }
    assert.equal(today(), first + 5)
    assert.equal((await infoOf()).trailingPoints, 6n * MILLION, 'the sixth day counts from the next one on')
    assert.equal((await dayOf(first + 5)).feeMultiplierCache, 975)
    assert.equal((await dayOf(first + 4)).feeMultiplierCache, 1_000)
    assert.equal(await feeOf(1_000n), 975n)
    await passTime(world(), DAY_S * 26)
    assert.equal(await feeOf(1_000n), 1_000n, 'a day without a trade has no multiplier yet')
    await openPosition(world(), ALICE, { pairIndex: LINK })
    // The points of the first day are 31 days old: six days earned 7.2 million, five of them count.
    assert.equal((await infoOf()).trailingPoints, 6n * MILLION)
    await passTime(world(), DAY_S * 40)
    await openPosition(world(), ALICE, { pairIndex: LINK })
    assert.equal((await infoOf()).trailingPoints, 0n)
  })

  it('do not apply to an excluded trader', async () => {
    await world().configure('setTraderPoints', [ALICE.address, 50n * MILLION])
    await world().configure('setFeeTiersEnrollment', [ALICE.address, { status: 1, __placeholder: 0n }])
    assert.equal(await feeOf(1_000n), 1_000n)
    assert.equal((await world().read('getTraderFeeTiersEnrollment', [ALICE.address])).status, 1)
  })
})
