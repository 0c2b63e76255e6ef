import { encodeFunctionData } from 'viem'
import { KEEPER, TRADERS } from '../../../../packages/devnet/src/deploy/accounts.ts'
import { loadArtifact } from '../../../artifact.ts'
import { movePrice, priceOf, type Action, type Campaign } from '../campaign.ts'
import { encodeWrite, type PendingOrder, type Trade } from '../codec.ts'
import { orderTypeName } from '../coverage.ts'
import type { Ground } from '../ground.ts'
import { MARKETS, movedBy } from '../market.ts'
import { fromUsd } from './openIntents.ts'
import { answer, leverageOf, pickRequest } from './answers.ts'

const LINK_TRIGGERS = 10n ** 24n
/** A trader that also triggers orders and pays LINK for it, so its pending orders are of both kinds. */
const OTHER_KEEPER = TRADERS[0]!

/** Gives that trader the LINK for its triggers, and the allowance. */
export async function fundTriggers(ground: Ground): Promise<void> {
  await ground.mint(ground.linkToken, OTHER_KEEPER.account.address, LINK_TRIGGERS)
  const { abi } = loadArtifact('Token')
  const approve = encodeFunctionData({ abi, functionName: 'approve', args: [ground.diamond, LINK_TRIGGERS] })
  await ground.transact(OTHER_KEEPER.account, ground.linkToken, approve)
}

/** Open interest of a side, in whole USD, at which a borrowing group is full. */
const GROUP_MAX_USD = 20_000_000

/**
 * Turns first-generation borrowing on for all pairs, high enough to be seen after a few blocks: LINK pays by itself and
 * by its group, BTC by that group only, EUR/USD by itself with a floor and without a group.
 */
export async function chargePerBlock(ground: Ground): Promise<void> {
  for (const { index, priceUsd } of ground.collaterals) {
    const maxOi = BigInt(GROUP_MAX_USD / Number(priceUsd)) * 10n ** 10n
    await ground.configure('setBorrowingV1Groups', [index, [1], [{ feePerBlock: 4e9, feeExponent: 2, maxOi }]])
    await ground.configure('setBorrowingV1Pairs', [
      index,
      [0, 2, 21],
      [
        { groupIndex: 1, feePerBlock: 0, feeExponent: 1 },
        { groupIndex: 1, feePerBlock: 2e9, feeExponent: 1 },
        { groupIndex: 0, feePerBlock: 1e8, feeExponent: 1 },
      ],
    ])
    await ground.configure('setBorrowingPairFeePerBlockCaps', [index, [21], [{ minP: 1_000, maxP: 70_000 }]])
  }
}

/** A bot triggers a resting order, a take profit, a stop loss or a liquidation, due or not. */
export const keeperTriggers: Action = {
  name: 'keeper triggers',
  weight: 20,
  async run(c) {
    const orderType = c.random.pick([2, 2, 3, 3, 4, 4, 5, 5, 6])
    const due = c.snapshot.trades.filter((t) => hasTrigger(t, orderType))
    const busy = due.filter((t) =>
      c.snapshot.orders.some(({ trade }) => trade.user === t.user && trade.index === t.index),
    )
    if (due.length === 0) return undefined
    const data = encodeTrigger(c.random.pick(busy.length > 0 && c.random.chance(0.4) ? busy : due), orderType)
    const { account } = c.random.chance(0.85) ? KEEPER : OTHER_KEEPER
    const receipt = await c.ground.transact(account, c.ground.diamond, data)
    c.coverage.count(`triggered ${orderTypeName(orderType)}: ${receipt.revertedWith ?? 'ok'}`)
    return { receipts: [receipt] }
  },
}

function hasTrigger(t: Trade, orderType: number): boolean {
  if (orderType < 4) return t.tradeType === orderType - 1
  if (orderType === 4) return t.tradeType === 0 && t.tp > 0n
  return t.tradeType === 0 && (orderType === 6 || t.sl > 0n)
}

export function encodeTrigger({ user, index }: Pick<Trade, 'user' | 'index'>, orderType: number) {
  return encodeWrite('triggerOrder', [BigInt(orderType) | (BigInt(user) << 8n) | (BigInt(index) << 168n)])
}

/** Seconds, hours or days pass, and a few blocks. */
export const timePasses: Action = {
  name: 'time passes',
  weight: 5,
  async run({ ground, random, coverage }) {
    const { seconds } = random.weighted([
      { weight: 70, seconds: random.int(1, 300) },
      { weight: 15, seconds: random.int(300, 3_700) },
      { weight: 15, seconds: random.logInt(3_600, 2_000_000) },
    ])
    const blocks = random.chance(0.2) ? random.int(10, 25) : random.int(1, 4)
    await ground.pass(seconds, blocks)
    coverage.count('passed time')
    return { receipts: [], mustEndWith: [] }
  },
}

/** A price jumps far enough to make or ruin positions of usual leverage. */
export const priceJumps: Action = {
  name: 'price jumps',
  weight: 2,
  async run(c) {
    const { pairIndex, liveliness } = c.random.pick(MARKETS)
    const ppm = c.random.int(-250_000, 330_000) * liveliness
    movePrice(c, pairIndex, movedBy(priceOf(c, pairIndex), ppm))
    c.coverage.count('passed a price jump')
    return { receipts: [], mustEndWith: [] }
  },
}

/** A trader gets new collateral. */
export const traderIsFunded: Action = {
  name: 'trader is funded',
  weight: 1,
  async run(c) {
    const mintable = c.ground.collaterals.filter(({ symbol }) => symbol !== 'WETH')
    const { index: collateralIndex, address } = c.random.pick(mintable)
    const trader = c.random.pick(TRADERS).account.address
    const amount = fromUsd(c, collateralIndex, BigInt(c.random.int(1_000, 100_000)) * 10n ** 18n)
    await c.ground.mint(address, trader, amount)
    return { receipts: [], minted: { trader, collateralIndex, amount } }
  },
}

/** Governance tightens a limit between a request and its answer, and restores it afterwards. */
export const limitTightens: Action = {
  name: 'limit tightens',
  weight: 6,
  async run(c) {
    const tighten = c.random.pick([limitLeverage, limitOpenInterest, widenSpread])
    // With a small slippage limit a wider spread would be refused as slippage, before the other checks.
    const leastSlippageP = tighten === widenSpread ? 10_000 : 0
    const isOpening = ({ orderType, maxSlippageP }: PendingOrder): boolean =>
      (orderType === 0 || orderType === 8) && maxSlippageP >= leastSlippageP
    const request = pickRequest(c, (age) => age <= 3_600, isOpening)
    if (request === undefined) return undefined
    const restore = await tighten(c, request.order)
    const price = movedBy(priceOf(c, request.order.trade.pairIndex), c.random.int(-300, 300))
    const receipts = await answer(c, request, { open: price, high: price, low: price, current: price })
    await restore()
    return { receipts }
  },
}

type Restore = () => Promise<void>

async function limitLeverage(c: Campaign, order: PendingOrder): Promise<Restore> {
  const pairIndex = BigInt(order.trade.pairIndex)
  await c.ground.govern('setPairCustomMaxLeverages', [[pairIndex], [BigInt(leverageOf(c, order)) - 1n]])
  return () => c.ground.govern('setPairCustomMaxLeverages', [[pairIndex], [0n]])
}

async function limitOpenInterest({ ground }: Campaign, { trade }: PendingOrder): Promise<Restore> {
  const { collateralIndex, pairIndex } = trade
  const max = await ground.read('getPairMaxOi', [collateralIndex, pairIndex])
  await ground.configure('setMaxOis', [collateralIndex, [pairIndex], [1n]])
  return () => ground.configure('setMaxOis', [collateralIndex, [pairIndex], [max]])
}

/**
 * Widens the spread until it alone costs 42 to 110 % of the collateral: too much price impact, or even beyond
 * liquidation.
 */
async function widenSpread(c: Campaign, order: PendingOrder): Promise<Restore> {
  const pairIndex = BigInt(order.trade.pairIndex)
  const pair = await c.ground.read('pairs', [pairIndex])
  const lossPercent = BigInt(c.random.int(42, 110))
  const spreadP = (2n * lossPercent * 10n ** 13n) / BigInt(Math.max(leverageOf(c, order), 1_000))
  await c.ground.govern('updatePairs', [[pairIndex], [{ ...pair, spreadP }]])
  return () => c.ground.govern('updatePairs', [[pairIndex], [pair]])
}
