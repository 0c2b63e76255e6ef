import assert from 'node:assert/strict'
import { loadArtifact } from '@bezel/contracts'
import { decodeFunctionResult, encodeFunctionData, parseUnits, zeroAddress, type Address, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { DEPLOYER, KEEPER, TRADERS } from '../../packages/devnet/src/deploy/accounts.ts'
import { packBands } from '../../packages/devnet/src/deploy/configureDiamond.ts'
import { DEPTH_BAND_SHARES_BPS } from '../../packages/devnet/src/listing/settings.ts'
import { onlyEvent, RevertedError, type Candle, type Outcome, type World } from './world.ts'

export const ALICE = TRADERS[0]!.account

export const BOB = TRADERS[1]!.account

/** Pairs of the local listing: BTC has a spread of 0.04 %, LINK none. */
export const BTC = 0

export const LINK = 2

/** Collateral index of USDC on arbitrum-sepolia. */
export const USDC = 3

export const LIMIT = 1

export const STOP = 2

/** PendingOrderType of each trigger. */
export const TRIGGER = { limit: 2, stop: 3, tp: 4, sl: 5, liq: 6 } as const

export type OrderId = { user: Address; index: number }

export const usd = (price: number | string): bigint => parseUnits(String(price), 10)

export const usdc = (amount: number | string): bigint => parseUnits(String(amount), 6)

export const tokens = (amount: number | string): bigint => parseUnits(String(amount), 18)

export const percent = (p: number | string): bigint => parseUnits(String(p), 10)

/** The trade of the worked examples: 100 USDC long BTC at 10x, expected at 60000. */
export const VECTOR_TRADE = {
  user: zeroAddress as Address,
  index: 0,
  pairIndex: BTC,
  leverage: 10_000,
  long: true,
  isOpen: false,
  collateralIndex: USDC,
  tradeType: 0,
  collateralAmount: usdc(100),
  openPrice: usd(60_000),
  tp: 0n,
  sl: 0n,
  isCounterTrade: false,
  positionSizeToken: 0n,
  __placeholder: 0,
}

export type Trade = typeof VECTOR_TRADE

/** Removes depth bands, skew, funding and borrowing from a pair, so that only its spread moves a price. */
export async function flatten(world: World, pairIndex: number): Promise<void> {
  const noBands = { aboveSlot1: 0n, aboveSlot2: 0n, belowSlot1: 0n, belowSlot2: 0n }
  await world.configure('setDepthBands', [[BigInt(pairIndex)], [noBands]])
  await world.configure('setSkewDepths', [USDC, [pairIndex], [0n]])
  await setFunding(world, pairIndex, { fundingFeesEnabled: false })
  await setBorrowingRate(world, pairIndex, 0)
}

/** Funding parameters of a pair in USDC. Missing ones are zero or off. */
export type Funding = {
  skewCoefficientPerYear: bigint
  absoluteVelocityPerYearCap: number
  absoluteRatePerSecondCap: number
  thetaThresholdUsd: number
  fundingFeesEnabled: boolean
  aprMultiplierEnabled: boolean
}

export async function setFunding(world: World, pairIndex: number, funding: Partial<Funding>): Promise<void> {
  const off: Funding = {
    skewCoefficientPerYear: 0n,
    absoluteVelocityPerYearCap: 0,
    absoluteRatePerSecondCap: 0,
    thetaThresholdUsd: 0,
    fundingFeesEnabled: true,
    aprMultiplierEnabled: false,
  }
  await world.configure('setFundingParams', [USDC, [pairIndex], [{ ...off, ...funding, __placeholder: 0n }]])
}

export async function setBorrowingRate(world: World, pairIndex: number, ratePerSecondP: number): Promise<void> {
  const params = { borrowingRatePerSecondP: ratePerSecondP, __placeholder: 0n }
  await world.configure('setBorrowingParams', [USDC, [pairIndex], [params]])
}

/** First-generation borrowing of a pair in USDC: fee in 1e10 percent per block, caps 1e3 per percent. */
export type BorrowingV1 = { groupIndex: number; feePerBlock: number; feeExponent: number; minP: number; maxP: number }

/** Sets first-generation borrowing of a pair. Without caps the whole net open interest counts. */
export async function setBorrowingV1(world: World, pairIndex: number, terms: Partial<BorrowingV1>): Promise<void> {
  const all: BorrowingV1 = { groupIndex: 0, feePerBlock: 0, feeExponent: 1, minP: 0, maxP: 100_000, ...terms }
  await world.configure('setBorrowingV1Pairs', [USDC, [pairIndex], [all]])
  await world.configure('setBorrowingPairFeePerBlockCaps', [USDC, [pairIndex], [all]])
}

/** Sets a borrowing group of USDC. `maxUsdc` is its largest open interest on one side; 0 is no limit. */
export async function setBorrowingGroup(
  world: World,
  groupIndex: number,
  terms: { feePerBlock: number; feeExponent?: number; maxUsdc: bigint },
): Promise<void> {
  const { feePerBlock, feeExponent = 1, maxUsdc } = terms
  const params = { feePerBlock, feeExponent, maxOi: maxUsdc * 10n ** 10n }
  await world.configure('setBorrowingV1Groups', [USDC, [groupIndex], [params]])
}

/** Sets the same depth bands on both sides of the book, with `totalUsd` up to 1 %. */
export async function setDepth(world: World, pairIndex: number, totalUsd: number): Promise<void> {
  const { slot1, slot2 } = packBands(DEPTH_BAND_SHARES_BPS, totalUsd)
  const bands = { aboveSlot1: slot1, aboveSlot2: slot2, belowSlot1: slot1, belowSlot2: slot2 }
  await world.configure('setDepthBands', [[BigInt(pairIndex)], [bands]])
}

export async function setMaxOi(world: World, pairIndex: number, maxUsdc: bigint): Promise<void> {
  await world.configure('setMaxOis', [USDC, [pairIndex], [maxUsdc * 10n ** 10n]])
}

/** Sets a pair's largest leverage (1e3). 0 applies the group's. */
export async function setMaxLeverage(world: World, pairIndex: number, leverage: bigint): Promise<void> {
  await world.send(DEPLOYER.account, 'setPairCustomMaxLeverages', [[BigInt(pairIndex)], [leverage]])
}

/** Requests a market open, the first of its two steps. */
export async function requestOpen(
  world: World,
  account: PrivateKeyAccount,
  terms: Partial<Trade> = {},
  maxSlippageP = 1_000,
): Promise<{ orderId: OrderId; outcome: Outcome }> {
  const outcome = await world.send(account, 'openTrade', [{ ...VECTOR_TRADE, ...terms }, maxSlippageP, zeroAddress])
  return { orderId: onlyEvent(outcome, 'MarketOrderInitiated').orderId, outcome }
}

/** Opens a position: requests it and answers with the expected price. Returns the new trade's index. */
export async function openPosition(
  world: World,
  account: PrivateKeyAccount,
  terms: Partial<Trade> = {},
): Promise<{ index: number; outcome: Outcome }> {
  const { orderId } = await requestOpen(world, account, terms)
  const outcome = await world.answer(orderId, terms.openPrice ?? VECTOR_TRADE.openPrice)
  return { index: onlyEvent(outcome, 'MarketExecuted').index, outcome }
}

/** Places a limit or stop order. Returns its index. */
export async function placeOrder(
  world: World,
  account: PrivateKeyAccount,
  terms: Partial<Trade>,
  maxSlippageP = 1_000,
): Promise<number> {
  const trade = { ...VECTOR_TRADE, tradeType: LIMIT, ...terms }
  const outcome = await world.send(account, 'openTrade', [trade, maxSlippageP, zeroAddress])
  return onlyEvent(outcome, 'OpenOrderPlaced').index
}

/** Requests a market close, the first of its two steps. */
export async function requestClose(
  world: World,
  account: PrivateKeyAccount,
  index: number,
  expectedPrice = usd(60_000),
): Promise<{ orderId: OrderId; outcome: Outcome }> {
  const outcome = await world.send(account, 'closeTradeMarket', [index, expectedPrice])
  return { orderId: onlyEvent(outcome, 'MarketOrderInitiated').orderId, outcome }
}

/** Packs the argument of triggerOrder. */
export function packTrigger(orderType: number, trader: Address, index: number): bigint {
  return BigInt(orderType) | (BigInt(trader) << 8n) | (BigInt(index) << 168n)
}

/** Triggers an order as the keeper. Returns the pending order, which is the keeper's own. */
export async function trigger(world: World, orderType: number, trader: Address, index: number): Promise<OrderId> {
  const outcome = await world.send(KEEPER.account, 'triggerOrder', [packTrigger(orderType, trader, index)])
  return onlyEvent(outcome, 'TriggerOrderInitiated').orderId
}

/** Returns a candle whose current price is its open; it reached `low` and `high` in between. */
export function candle(open: bigint, low = open, high = open): Candle {
  return { open, high, low, current: open }
}

/** Reads the liquidation price of an open position at a price of its pair. */
export async function readLiquidationPrice(
  world: Pick<World, 'read'>,
  trader: Address,
  index: number,
  currentPairPrice: bigint,
): Promise<bigint> {
  const { collateralIndex, pairIndex, openPrice, long, collateralAmount, leverage, isCounterTrade } = await world.read(
    'getTrade',
    [trader, index],
  )
  const liquidationParams = await world.read('getTradeLiquidationParams', [trader, index])
  const input = {
    collateralIndex,
    trader,
    pairIndex,
    index,
    openPrice,
    long,
    collateral: collateralAmount,
    leverage: BigInt(leverage),
    additionalFeeCollateral: 0n,
    liquidationParams,
    currentPairPrice,
    isCounterTrade,
    partialCloseMultiplier: 10n ** 18n,
    beforeOpened: false,
  }
  return world.read('getTradeLiquidationPrice', [input])
}

/** Reads the USDC balance of an account. */
export async function balanceOf(world: World, account: Address): Promise<bigint> {
  const { abi } = loadArtifact('Token')
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [account] })
  const to = world.plan.collaterals.find(({ index }) => index === USDC)!.address
  const result = await world.chain.request<Hex>('eth_call', [{ to, data }, 'latest'])
  return decodeFunctionResult({ abi, functionName: 'balanceOf', data: result }) as bigint
}

/** Returns the USDC that an account gained while `action` ran; negative for a loss. */
export async function gainOf(world: World, account: Address, action: () => Promise<unknown>): Promise<bigint> {
  const before = await balanceOf(world, account)
  await action()
  return (await balanceOf(world, account)) - before
}

export function eventNames(outcome: Outcome): string[] {
  return outcome.events.map(({ eventName }) => eventName)
}

/** Asserts that a call reverts with a custom error. */
export async function assertReverts(call: Promise<unknown>, errorName: string, args: readonly unknown[] = []) {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof RevertedError, `expected ${errorName}, got ${String(error)}`)
    assert.deepEqual([error.errorName, ...error.args], [errorName, ...args])
    return true
  })
}

/** Moves chain time and mines a block, so that views see it. */
export async function passTime(world: World, seconds: number): Promise<void> {
  await world.chain.request('evm_increaseTime', [seconds])
  await world.chain.mine()
}

export async function mineBlocks(world: World, count: number): Promise<void> {
  await world.chain.request('hardhat_mine', [`0x${count.toString(16)}`])
}
