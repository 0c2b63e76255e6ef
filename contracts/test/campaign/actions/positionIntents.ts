import type { Address, Hex } from 'viem'
import { priceOf, type Campaign } from '../campaign.ts'
import { encodeWrite, type Trade } from '../codec.ts'
import { profitP } from '../formulas.ts'
import { marketOf, movedBy } from '../market.ts'
import type { IntentMaker } from './intents.ts'

const MAX_LEVERAGE = 2 ** 24 - 1
const MAX_PRICE = 2n ** 64n - 1n

/** Requests of a trader about an open position. */
export const POSITION_INTENTS: readonly IntentMaker[] = [
  { name: 'close', weight: 11, make: onPosition((c, t) => encodeWrite('closeTradeMarket', [t.index, near(c, t)])) },
  { name: 'update tp', weight: 4, make: onPosition((c, t) => encodeWrite('updateTp', [t.index, exit(c, t)])) },
  { name: 'update sl', weight: 4, make: onPosition((c, t) => encodeWrite('updateSl', [t.index, exit(c, t)])) },
  {
    name: 'update closing slippage',
    weight: 2,
    make: onPosition((c, t) => encodeWrite('updateMaxClosingSlippageP', [t.index, c.random.logInt(1, 60_000)])),
  },
  { name: 'leverage up', weight: 3, make: onPosition((c, t) => updateLeverage(c, t, 1.02, 3)) },
  { name: 'leverage down', weight: 3, make: onPosition((c, t) => updateLeverage(c, t, 0.2, 0.98)) },
  { name: 'increase with collateral', weight: 4, make: onPosition((c, t) => increase(c, t, true)) },
  { name: 'increase of leverage', weight: 3, make: onPosition((c, t) => increase(c, t, false)) },
  { name: 'take off most of a winner', weight: 8, make: takeMostOff },
  { name: 'absurd change', weight: 2, make: onPosition(absurdChange) },
  { name: 'decrease of collateral', weight: 4, make: onPosition((c, t) => decrease(c, t, true)) },
  { name: 'decrease of leverage', weight: 4, make: onPosition((c, t) => decrease(c, t, false)) },
]

function onPosition(make: (c: Campaign, t: Trade) => Hex): IntentMaker['make'] {
  return (c, trader) => {
    const t = pickTrade(c, trader, ({ tradeType }) => tradeType === 0)
    return t === undefined ? undefined : make(c, t)
  }
}

/** Picks one of a trader's open trades or resting orders, preferably one without a pending order. */
export function pickTrade(c: Campaign, trader: Address, filter: (t: Trade) => boolean): Trade | undefined {
  const all = c.snapshot.trades.filter((t) => t.user === trader && filter(t))
  const free = all.filter(
    (t) => !c.snapshot.orders.some(({ trade }) => trade.user === t.user && trade.index === t.index),
  )
  const from = free.length > 0 && c.random.chance(0.9) ? free : all
  return from.length === 0 ? undefined : c.random.pick(from)
}

/** Returns a random share of an amount. `min` and `max` are fractions. */
function share(c: Campaign, amount: bigint, min: number, max: number): bigint {
  return (amount * BigInt(c.random.int(min * 1000, max * 1000))) / 1000n
}

/** Returns the current price, moved a little. */
function near(c: Campaign, { pairIndex }: Trade): bigint {
  return movedBy(priceOf(c, pairIndex), c.random.int(-3_000, 3_000) * marketOf(pairIndex).liveliness)
}

/** Returns a take profit or stop loss price, on either side; 0 (none) in 15 % of the cases. */
function exit(c: Campaign, { pairIndex, openPrice, leverage }: Trade): bigint {
  if (c.random.chance(0.15)) return 0n
  const reachPpm = Math.min(900_000, Math.max(2_000, (1_000_000_000 / leverage) * c.random.pick([0.2, 1, 2])))
  const around = c.random.chance(0.5) ? openPrice : priceOf(c, pairIndex)
  return movedBy(around, c.random.int(-reachPpm, reachPpm))
}

function updateLeverage(c: Campaign, { index, leverage }: Trade, min: number, max: number): Hex {
  const next = Math.round((leverage * c.random.int(min * 1000, max * 1000)) / 1000)
  return encodeWrite('updateLeverage', [index, Math.min(next, MAX_LEVERAGE)])
}

function increase(c: Campaign, t: Trade, withCollateral: boolean): Hex {
  const collateralDelta = withCollateral ? share(c, t.collateralAmount, 0.01, 1.5) : 0n
  const { maxLeverage } = marketOf(t.pairIndex)
  const leverageDelta = withCollateral
    ? c.random.logInt(500, maxLeverage)
    : Math.max(1, Math.round((t.leverage * c.random.int(10, 1_000)) / 1000))
  const slippage = c.random.pick([200, 1_000, 10_000, 60_000])
  return encodeWrite('increasePositionSize', [t.index, collateralDelta, leverageDelta, near(c, t), slippage])
}

/**
 * Requests to remove nearly all collateral of a position with a large profit, including the part that fees have already
 * consumed.
 */
function takeMostOff(c: Campaign, trader: Address): Hex | undefined {
  const isWinner = (t: Trade): boolean => t.tradeType === 0 && profitP(t, priceOf(c, t.pairIndex)) > 50n * 10n ** 10n
  const t = pickTrade(c, trader, isWinner)
  if (t === undefined) return undefined
  if (c.random.chance(0.5)) return updateLeverage(c, t, 4, 40)
  return encodeWrite('decreasePositionSize', [t.index, share(c, t.collateralAmount, 0.85, 0.995), 0, near(c, t)])
}

/** Requests a change with the largest or smallest numbers that the fields can carry. */
function absurdChange(c: Campaign, t: Trade): Hex {
  const { index, pairIndex } = t
  const price = priceOf(c, pairIndex)
  return c.random.pick([
    encodeWrite('updateTp', [index, MAX_PRICE]),
    encodeWrite('updateSl', [index, MAX_PRICE]),
    encodeWrite('updateSl', [index, 1n]),
    encodeWrite('updateLeverage', [index, MAX_LEVERAGE]),
    encodeWrite('updateLeverage', [index, 100]),
    encodeWrite('increasePositionSize', [index, 0n, MAX_LEVERAGE, MAX_PRICE, 65_535]),
    encodeWrite('increasePositionSize', [index, 1n, MAX_LEVERAGE, price, 65_535]),
    encodeWrite('increasePositionSize', [index, 0n, 1, price, 65_535]),
    encodeWrite('decreasePositionSize', [index, 1n, 0, price]),
    encodeWrite('decreasePositionSize', [index, 0n, 1, price]),
    encodeWrite('closeTradeMarket', [index, t.long ? 1n : MAX_PRICE]),
  ])
}

function decrease(c: Campaign, t: Trade, ofCollateral: boolean): Hex {
  const collateralDelta = ofCollateral ? share(c, t.collateralAmount, 0.01, 0.95) : 0n
  const leverageDelta = ofCollateral ? 0 : Math.round((t.leverage * c.random.int(10, 950)) / 1000)
  return encodeWrite('decreasePositionSize', [t.index, collateralDelta, leverageDelta, near(c, t)])
}
