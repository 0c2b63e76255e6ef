import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { zeroAddress } from 'viem'
import { AGENTS, DEPLOYER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  BOB,
  BTC,
  flatten,
  gainOf,
  LIMIT,
  openPosition,
  placeOrder,
  requestClose,
  requestOpen,
  setDepth,
  usd,
  usdc,
  USDC,
  VECTOR_TRADE,
  type Trade,
} from './trading.ts'
import { onlyEvent, RevertedError } from './world.ts'

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
})

const openTrade = (terms: Partial<Trade>, maxSlippageP = 1_000) =>
  world().send(ALICE, 'openTrade', [{ ...VECTOR_TRADE, ...terms }, maxSlippageP, zeroAddress])

describe('openTrade', () => {
  const cases: [string, string, Partial<Trade>, number?][] = [
    ['collateral below five minimum fees', 'InsufficientCollateral', { collateralAmount: usdc('3.749999') }],
    ['leverage below the minimum of the group', 'WrongLeverage', { leverage: 1_099 }],
    ['leverage above the maximum of the pair', 'WrongLeverage', { leverage: 200_001 }],
    ['a pair closed to new trades (maximum 0.001x)', 'WrongLeverage', { pairIndex: 4 }],
    ['a counter trade above its own maximum', 'WrongTradeType', { isCounterTrade: true, leverage: 25_001 }],
    ['a counter trade where there are none', 'WrongTradeType', { isCounterTrade: true, pairIndex: 3 }],
    ['an unknown trade type', 'WrongTradeType', { tradeType: 3 }],
    ['an unlisted pair', 'TradePairNotListed', { pairIndex: 220 }],
    ['an unknown collateral', 'InvalidCollateralIndex', { collateralIndex: 5 }],
    ['no expected price', 'TradeOpenPriceZero', { openPrice: 0n }],
    ['a take profit below a long', 'TradeTpInvalid', { tp: usd(60_000) }],
    ['a take profit above a short', 'TradeTpInvalid', { long: false, tp: usd(60_000) }],
    ['a stop loss above a long', 'TradeSlInvalid', { sl: usd(60_000) }],
    ['a stop loss below a short', 'TradeSlInvalid', { long: false, sl: usd(60_000) }],
    ['no slippage', 'MaxSlippageZero', {}, 0],
  ]
  for (const [what, errorName, terms, slippage] of cases) {
    it(`refuses ${what} with ${errorName}, as a market and as a limit order`, async () => {
      await assertReverts(openTrade(terms, slippage), errorName)
      if (terms.tradeType === undefined)
        await assertReverts(openTrade({ ...terms, tradeType: LIMIT }, slippage), errorName)
    })
  }

  it('takes the least collateral and both ends of the leverage range', async () => {
    for (const terms of [{ collateralAmount: usdc('3.75') }, { leverage: 1_100 }, { leverage: 200_000 }]) {
      await openTrade(terms)
    }
    assert.equal((await world().read('getPendingOrders', [ALICE.address])).length, 3)
  })

  it('refuses an impact that costs more than 40 % of the collateral with PriceImpactTooHigh', async () => {
    await setDepth(world(), BTC, 50)
    await assertReverts(openTrade({}), 'PriceImpactTooHigh')
    await assertReverts(openTrade({ long: false }), 'PriceImpactTooHigh')
    await openTrade({ leverage: 2_000 })
  })

  it('allows an impact of exactly 40 %: spread 8 %, half of it, ten times', async () => {
    const spread = (fixedSpreadP: number) =>
      world().configure('setUserPriceImpact', [
        ALICE.address,
        BigInt(BTC),
        { cumulVolPriceImpactMultiplier: 0, fixedSpreadP, __placeholder: 0n },
      ])
    await spread(8_000 - 40)
    await openTrade({})
    await spread(8_000 - 39)
    await assertReverts(openTrade({}), 'PriceImpactTooHigh')
    await assertReverts(openTrade({ long: false }), 'PriceImpactTooHigh')
  })

  it('refuses an inactive collateral after all checks of size and after taking the money', async () => {
    await world().send(DEPLOYER.account, 'toggleCollateralActiveState', [USDC])
    await assertReverts(openTrade({ leverage: 1 }), 'WrongLeverage')
    await assertReverts(openTrade({ tp: 1n }), 'InvalidCollateralIndex')
    const poor = world().send(AGENTS[0]!.account, 'openTrade', [VECTOR_TRADE, 1_000, zeroAddress])
    await assert.rejects(poor, (error) => error instanceof RevertedError && error.errorName.startsWith('unknown 0x'))
  })

  it('refuses a size of zero with TradePositionSizeZero (only a pair without fees has no minimum)', async () => {
    const free = { totalPositionSizeFeeP: 0n, totalLiqCollateralFeeP: 0n, oraclePositionSizeFeeP: 0n }
    await world().configure('setFees', [[0n], [{ ...free, minPositionSizeUsd: 0n, __placeholder: 0n }]])
    await assertReverts(openTrade({ collateralAmount: 0n }), 'TradePositionSizeZero')
  })

  it('overwrites user, index, token size and placeholder of what it is given', async () => {
    const lies = { user: BOB.address, index: 7, isOpen: true, positionSizeToken: 5n, __placeholder: 9 }
    const { orderId } = await requestOpen(world(), ALICE, lies)
    const { trade } = await world().read('getPendingOrder', [orderId])
    assert.deepEqual(trade, { ...VECTOR_TRADE, user: ALICE.address })
  })

  it('takes the collateral at once and gives a cancelled order all of it back', async () => {
    const taken = await gainOf(world(), ALICE.address, () => placeOrder(world(), ALICE, {}))
    assert.equal(taken, -usdc(100))
    const back = await gainOf(world(), ALICE.address, () => world().send(ALICE, 'cancelOpenOrder', [0]))
    assert.equal(back, usdc(100))
  })
})

describe('a position', () => {
  it('refuses closeTradeMarket: ZeroValue, ConflictingPendingOrder, DoesntExist, WrongTradeType', async () => {
    await assertReverts(world().send(ALICE, 'closeTradeMarket', [0, 0n]), 'ZeroValue')
    await assertReverts(world().send(ALICE, 'closeTradeMarket', [0, 1n]), 'DoesntExist')
    const order = await placeOrder(world(), ALICE, {})
    await assertReverts(world().send(ALICE, 'closeTradeMarket', [order, 1n]), 'WrongTradeType')
    const { index } = await openPosition(world(), ALICE)
    await requestClose(world(), ALICE, index)
    await assertReverts(world().send(ALICE, 'closeTradeMarket', [index, 0n]), 'ZeroValue')
    await assertReverts(world().send(ALICE, 'closeTradeMarket', [index, 1n]), 'ConflictingPendingOrder', [1])
  })

  it('has one pending market request at a time: ConflictingPendingOrder names the one that waits', async () => {
    const { index } = await openPosition(world(), ALICE)
    const requests = {
      1: () => world().send(ALICE, 'closeTradeMarket', [index, usd(60_000)]),
      7: () => world().send(ALICE, 'updateLeverage', [index, 5_000]),
      8: () => world().send(ALICE, 'increasePositionSize', [index, usdc(10), 10_000, usd(60_000), 1_000]),
      9: () => world().send(ALICE, 'decreasePositionSize', [index, usdc(10), 0, usd(60_000)]),
    }
    for (const [orderType, request] of Object.entries(requests)) {
      const snapshotId = await world().snapshot()
      await request()
      for (const next of Object.values(requests)) {
        await assertReverts(next(), 'ConflictingPendingOrder', [Number(orderType)])
      }
      await world().restore(snapshotId)
    }
  })

  it('refuses updateTp, updateSl and updateMaxClosingSlippageP of what is no position', async () => {
    const order = await placeOrder(world(), ALICE, {})
    for (const name of ['updateTp', 'updateSl'] as const) {
      await assertReverts(world().send(ALICE, name, [9, 1n]), 'DoesntExist')
      await assertReverts(world().send(ALICE, name, [order, 1n]), 'WrongTradeType')
    }
    await assertReverts(world().send(ALICE, 'updateMaxClosingSlippageP', [9, 1]), 'DoesntExist')
    await assertReverts(world().send(ALICE, 'updateMaxClosingSlippageP', [order, 1]), 'WrongTradeType')
    await assertReverts(world().send(ALICE, 'updateMaxClosingSlippageP', [9, 0]), 'MaxSlippageZero')
  })

  it('refuses updateLeverage: WrongLeverage, InsufficientCollateral, DoesntExist, WrongTradeType', async () => {
    const { index } = await openPosition(world(), ALICE, { collateralAmount: usdc('3.75'), leverage: 20_000 })
    await assertReverts(world().send(ALICE, 'updateLeverage', [index, 20_000]), 'WrongLeverage')
    await assertReverts(world().send(ALICE, 'updateLeverage', [index, 99]), 'WrongLeverage')
    await assertReverts(world().send(ALICE, 'updateLeverage', [index, 100_001]), 'InsufficientCollateral')
    await assertReverts(world().send(ALICE, 'updateLeverage', [9, 5_000]), 'DoesntExist')
    const order = await placeOrder(world(), ALICE, {})
    await assertReverts(world().send(ALICE, 'updateLeverage', [order, 5_000]), 'WrongTradeType')
    await world().send(ALICE, 'updateLeverage', [index, 100_000]) // leaves 0.75, one minimum fee
  })

  it('refuses increasePositionSize without leverage, price or slippage', async () => {
    const { index } = await openPosition(world(), ALICE)
    const increase = (leverage: number, price: bigint, slippage: number, at = index) =>
      world().send(ALICE, 'increasePositionSize', [at, usdc(10), leverage, price, slippage])
    await assertReverts(increase(0, 1n, 1), 'InvalidIncreasePositionSizeInput')
    await assertReverts(increase(1, 0n, 1), 'InvalidIncreasePositionSizeInput')
    await assertReverts(increase(1, 1n, 0), 'InvalidIncreasePositionSizeInput')
    await assertReverts(increase(1, 1n, 1, 9), 'DoesntExist')
  })

  it('refuses decreasePositionSize unless exactly one delta is given and enough remains', async () => {
    const { index } = await openPosition(world(), ALICE)
    const decrease = (collateral: bigint, leverage: number, price = usd(60_000), at = index) =>
      world().send(ALICE, 'decreasePositionSize', [at, collateral, leverage, price])
    await assertReverts(decrease(0n, 0), 'InvalidDecreasePositionSizeInput')
    await assertReverts(decrease(1n, 1), 'InvalidDecreasePositionSizeInput')
    await assertReverts(decrease(1n, 0, 0n), 'ZeroValue')
    await assertReverts(decrease(usdc('99.250001'), 0), 'InsufficientCollateral')
    await assertReverts(decrease(usdc(101), 0), 'InsufficientCollateral')
    await assertReverts(decrease(0n, 9_901), 'WrongLeverage')
    await assertReverts(decrease(1n, 0, 1n, 9), 'DoesntExist')
    await decrease(usdc('99.25'), 0)
  })
})

describe('a resting order', () => {
  it('refuses updateOpenOrder with the checks of openTrade', async () => {
    const index = await placeOrder(world(), ALICE, {})
    const update = (price: bigint, tp: bigint, sl: bigint, slippage = 1_000, at = index) =>
      world().send(ALICE, 'updateOpenOrder', [at, price, tp, sl, slippage])
    await assertReverts(update(0n, 0n, 0n), 'TradeOpenPriceZero')
    await assertReverts(update(usd(100), usd(100), 0n), 'TradeTpInvalid')
    await assertReverts(update(usd(100), 0n, usd(100)), 'TradeSlInvalid')
    await assertReverts(update(usd(100), 0n, 0n, 0), 'MaxSlippageZero')
    await assertReverts(update(usd(100), 0n, 0n, 1, 9), 'DoesntExist')
    const { index: position } = await openPosition(world(), ALICE)
    await assertReverts(update(usd(100), 0n, 0n, 1, position), 'WrongTradeType')
    await assertReverts(world().send(ALICE, 'cancelOpenOrder', [position]), 'WrongTradeType')
    await assertReverts(world().send(ALICE, 'cancelOpenOrder', [9]), 'DoesntExist')
  })

  it('gets all four values at once; the event tells the requested stop loss, the order keeps the clamped one', async () => {
    const index = await placeOrder(world(), ALICE, { tp: usd(90_000), sl: usd(59_000) }, 500)
    const outcome = await world().send(ALICE, 'updateOpenOrder', [index, usd(50_000), 0n, usd(1), 700])
    const clamped = usd(50_000) - (usd(50_000) * 838n) / 10_000n
    assert.equal(onlyEvent(outcome, 'OpenLimitUpdated').newSl, usd(1))
    assert.equal(onlyEvent(outcome, 'OpenOrderDetailsUpdated').sl, clamped)
    const { openPrice, tp, sl } = await world().read('getTrade', [ALICE.address, index])
    assert.deepEqual({ openPrice, tp, sl }, { openPrice: usd(50_000), tp: 0n, sl: clamped })
    assert.equal((await world().read('getTradeInfo', [ALICE.address, index])).maxSlippageP, 700)
  })
})
