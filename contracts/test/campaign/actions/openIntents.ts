import { zeroAddress, type Address, type Hex } from 'viem'
import { encodeWrite, type WriteArgs } from '../codec.ts'
import { priceOf, type Campaign } from '../campaign.ts'
import { COLLATERAL_INDICES, MARKETS, movedBy, type Market } from '../market.ts'
import type { IntentMaker } from './intents.ts'

type NewTrade = WriteArgs<'openTrade'>[0]

const PPM_PER_PERCENT = 10_000
const SLIPPAGES_P = [50, 1_000, 10_000, 60_000, 60_000]

/** Opens of every kind, on every pair and in every collateral. */
export const OPEN_INTENTS: readonly IntentMaker[] = [
  { name: 'open market', weight: 10, make: (c, trader) => openTrade(c, trader, 0, false) },
  { name: 'open limit', weight: 4, make: (c, trader) => openTrade(c, trader, 1, false) },
  { name: 'open stop', weight: 4, make: (c, trader) => openTrade(c, trader, 2, false) },
  { name: 'open counter trade', weight: 4, make: (c, trader) => openTrade(c, trader, 0, true) },
]

function openTrade(c: Campaign, trader: Address, tradeType: number, isCounterTrade: boolean): Hex {
  const { random } = c
  const markets = isCounterTrade ? MARKETS.filter(({ counterMaxLeverage }) => counterMaxLeverage > 0) : MARKETS
  const trade = draftTrade(c, trader, random.pick(markets), tradeType)
  if (isCounterTrade) {
    trade.isCounterTrade = true
    trade.leverage = Math.min(trade.leverage, random.int(2_000, 25_000))
    // Mostly against the skew, as is usual for a counter trade.
    trade.long = random.chance(0.7) ? isSkewedShort(c, trade) : random.chance(0.5)
    trade.tp = 0n
    trade.sl = 0n
  }
  return encodeWrite('openTrade', [trade, random.pick(SLIPPAGES_P), zeroAddress])
}

/** Returns a trade that the Diamond accepts, at the current price or near it. */
export function draftTrade(c: Campaign, trader: Address, market: Market, tradeType: number): NewTrade {
  const { random } = c
  const { pairIndex, liveliness } = market
  const collateralIndex = random.pick(COLLATERAL_INDICES)
  const reachPpm = tradeType === 0 ? 2_000 : 30_000
  const openPrice = movedBy(priceOf(c, pairIndex), random.int(-reachPpm, reachPpm) * liveliness)
  const long = random.chance(0.5)
  const leverage = random.logInt(market.minLeverage, market.maxLeverage)
  // Distances from a tenth to three times the move that loses the whole collateral: some are reached at once, some
  // never.
  const reach = Math.min(90, (100_000 / leverage) * random.pick([0.1, 0.5, 1, 3])) * PPM_PER_PERCENT
  const up = movedBy(openPrice, random.int(1, Math.max(2, reach)))
  const down = movedBy(openPrice, -random.int(1, Math.max(2, reach)))
  return {
    user: trader,
    index: 0,
    pairIndex,
    leverage,
    long,
    isOpen: true,
    collateralIndex,
    tradeType,
    collateralAmount: collateralOf(c, collateralIndex, market),
    openPrice,
    tp: random.chance(0.5) ? (long ? up : down) : 0n,
    sl: random.chance(0.5) ? (long ? down : up) : 0n,
    isCounterTrade: false,
    positionSizeToken: 0n,
    __placeholder: 0,
  }
}

/** Returns an amount between the pair's minimum and 20,000 USD, spread evenly over orders of magnitude. */
function collateralOf(c: Campaign, collateralIndex: number, { feeP, minPositionUsd }: Market): bigint {
  const leastUsd = (5n * minPositionUsd * feeP) / 10n ** 12n
  const usd = c.random.logInt(Number(leastUsd / 10n ** 14n) + 1, 200_000_000)
  return fromUsd(c, collateralIndex, BigInt(usd) * 10n ** 14n)
}

/** Returns the amount of a collateral worth `usd` (1e18), rounded down. */
export function fromUsd(c: Campaign, collateralIndex: number, usd: bigint): bigint {
  const { decimals, priceUsd } = c.ground.collaterals.find(({ index }) => index === collateralIndex)!
  return (usd * 10n ** BigInt(decimals)) / BigInt(priceUsd) / 10n ** 18n
}

/** Returns true when the open positions in the pair and collateral of a trade are short in total. */
function isSkewedShort(c: Campaign, { collateralIndex, pairIndex }: NewTrade): boolean {
  const book = c.snapshot.trades.filter(
    (trade) => trade.tradeType === 0 && trade.collateralIndex === collateralIndex && trade.pairIndex === pairIndex,
  )
  return (
    book.reduce((skew, { long, positionSizeToken }) => skew + (long ? positionSizeToken : -positionSizeToken), 0n) < 0n
  )
}
