import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CancelReason } from '@bezel/protocol'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, BOB, flatten, LINK, openPosition, requestOpen, setMaxOi, usd, usdc, USDC } from './trading.ts'
import { onlyEvent } from './world.ts'

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
})

const setMaxSkew = (maxUsdc: bigint) => world().configure('setMaxSkews', [USDC, [LINK], [maxUsdc * 10n ** 10n]])

/** Opens a position of `sizeUsdc` at 10x. Returns true when the exposure limits accept it. */
async function passes(long: boolean, sizeUsdc: number, price = usd(60_000)): Promise<boolean> {
  const terms = { pairIndex: LINK, long, collateralAmount: usdc(sizeUsdc) / 10n, openPrice: price }
  const { orderId } = await requestOpen(world(), ALICE, terms)
  const outcome = await world().answer(orderId, price)
  if (outcome.events.some(({ eventName }) => eventName === 'MarketExecuted')) return true
  assert.equal(onlyEvent(outcome, 'MarketOpenCanceled').cancelReason, CancelReason.EXPOSURE_LIMITS)
  return false
}

describe('open interest of one side', () => {
  it('may reach the limit and not exceed it; the other side has its own', async () => {
    await setMaxOi(world(), LINK, 3_000n)
    assert.equal(await world().read('getPairMaxOiCollateral', [USDC, LINK]), usdc(3_000))
    assert.equal(await passes(true, 2_400), true)
    assert.equal(await passes(true, 601), false)
    assert.equal(await passes(true, 600), true)
    assert.equal(await passes(false, 3_000), true)
  })

  it('is valued at the price of the answer, not at the prices it was opened at', async () => {
    await setMaxOi(world(), LINK, 3_000n)
    await openPosition(world(), BOB, { pairIndex: LINK, collateralAmount: usdc(200) }) // 2000 USDC at 60000
    assert.equal(await passes(true, 1_000, usd(90_000)), false, 'is worth 3000 at 90000')
    assert.equal(await passes(true, 2_000, usd(30_000)), true, 'is worth 1000 at 30000')
  })
})

describe('the skew', () => {
  it('may reach its limit and not exceed it; no limit is no limit', async () => {
    await setMaxSkew(1_000n)
    assert.equal(await passes(true, 1_001), false)
    assert.equal(await passes(true, 1_000), true)
    assert.equal(await passes(true, 100), false)
    await setMaxSkew(0n)
    assert.equal(await passes(true, 100), true)
  })

  it('beyond its limit may be reduced, as long as it does not overshoot to the other side', async () => {
    await setMaxSkew(0n)
    await openPosition(world(), BOB, { pairIndex: LINK, collateralAmount: usdc(500) }) // 5000 long
    await setMaxSkew(1_000n)
    assert.equal(await passes(true, 100), false, 'makes it worse')
    assert.equal(await passes(false, 6_001), false, 'leaves 1001 on the other side')
    assert.equal(await passes(false, 3_000), true, 'leaves 2000, still beyond, but less')
    assert.equal(await passes(false, 3_000), true, 'leaves 1000 on the other side')
  })
})
