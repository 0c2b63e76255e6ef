import type { PairQuote } from '../trading/market/pairQuote.ts'
import type { LivePosition } from '../trading/positions/livePosition.ts'
import { scaleDecimalTruncated, type Decimal, type Position } from '@bezel/protocol'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { positionAnswer } from '../trading/positions/positionAnswer.ts'
import { larger, magnitude, P_10, smaller } from '../trading/valuation/scales.ts'
import { coinsOf, type Coin } from './coins.ts'
import { usdOf } from './usd.ts'

/** One trade of the chain. Sizes are base units (1e18, below zero for a short), prices 1e10, amounts USD (1e6). */
interface Part {
  readonly size: bigint
  readonly entryPrice: bigint
  readonly mark: bigint
  readonly liquidationPrice: bigint
  readonly collateralUsd: bigint
  readonly pnlUsd: bigint
  readonly fundingUsd: bigint
}

/** All that a trader has in one coin, as one position: clients of the facade know no more than one. */
export interface NetPosition {
  readonly coin: Coin
  /** Zero when longs and shorts are of the same size. */
  readonly size: bigint
  /** Weighted by size, of the trades on the side of the whole. */
  readonly entryPrice: bigint
  readonly mark: bigint
  /** The nearest of those on the side of the whole; `undefined` when there is none. */
  readonly liquidationPrice: bigint | undefined
  /** What was put in. */
  readonly collateralUsd: bigint
  readonly pnlUsd: bigint
  /** Pending; above zero is to be paid. */
  readonly fundingUsd: bigint
  /** Size times the mark. */
  readonly valueUsd: bigint
  readonly leverage: number
}

const SIZE_DECIMALS = 18
const PRICE_DECIMALS = 10
const E18_TO_E6 = 10n ** 12n

/** In the order of asset ids. What the markets do not know yet is left out. A pair without a price is valued at its entry. */
export function netPositions(
  positions: readonly LivePosition[],
  chain: ChainMarkets,
  quote: (pairIndex: number) => PairQuote | undefined,
  timestampS: number,
): NetPosition[] {
  const parts = new Map<number, Part[]>()
  for (const position of positions) {
    const { pairIndex, openPrice } = position.state.trade
    const prices = quote(pairIndex) ?? { mark: openPrice, index: openPrice }
    const answer = positionAnswer(position, chain, prices, timestampS)
    const part = answer && partOf(answer, position, chain)
    if (part !== undefined) parts.set(pairIndex, [...(parts.get(pairIndex) ?? []), part])
  }
  const { universe } = coinsOf(chain)
  return [...parts.entries()]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([pairIndex, of]) => (universe[pairIndex] === undefined ? [] : [net(universe[pairIndex], of)]))
}

function partOf(answer: Position, { state }: LivePosition, chain: ChainMarkets): Part | undefined {
  const token = chain.collaterals.find(({ index }) => index === state.trade.collateralIndex)
  if (token === undefined) return undefined
  const usd = (text: string): bigint => usdOf(token, scaled(text, token.decimals))
  const size = scaled(answer.size, SIZE_DECIMALS)
  return {
    size: answer.side === 'long' ? size : -size,
    entryPrice: scaled(answer.entryPrice, PRICE_DECIMALS),
    mark: scaled(answer.markPrice, PRICE_DECIMALS),
    liquidationPrice: scaled(answer.liquidationPrice, PRICE_DECIMALS),
    collateralUsd: usd(answer.collateral),
    pnlUsd: usd(answer.unrealizedPnl),
    fundingUsd: usd(answer.fundingFee),
  }
}

function net(coin: Coin, parts: readonly Part[]): NetPosition {
  const size = sum(parts, (part) => part.size)
  const { mark } = parts[0]!
  // Longs and shorts of the same size have no side: then all of them count.
  const leading = parts.filter((part) => part.size * size > 0n)
  const counted = leading.length > 0 ? leading : parts
  const collateralUsd = sum(parts, (part) => part.collateralUsd)
  return {
    coin,
    size,
    mark,
    collateralUsd,
    entryPrice: entryOf(counted),
    liquidationPrice: size === 0n ? undefined : nearest(leading, size > 0n),
    pnlUsd: sum(parts, (part) => part.pnlUsd),
    fundingUsd: sum(parts, (part) => part.fundingUsd),
    valueUsd: notional(magnitude(size), mark),
    leverage: leverageOf(parts, collateralUsd),
  }
}

function entryOf(parts: readonly Part[]): bigint {
  const weight = sum(parts, (part) => magnitude(part.size))
  if (weight === 0n) return parts[0]!.entryPrice
  return sum(parts, (part) => magnitude(part.size) * part.entryPrice) / weight
}

/** The first that a falling price reaches for longs, a rising one for shorts. */
function nearest(parts: readonly Part[], isLong: boolean): bigint | undefined {
  const prices = parts.map(({ liquidationPrice }) => liquidationPrice).filter((price) => price > 0n)
  return prices.length === 0 ? undefined : prices.reduce(isLong ? larger : smaller)
}

/** What was bought over what was put in, to the nearest whole. */
function leverageOf(parts: readonly Part[], collateralUsd: bigint): number {
  const boughtUsd = sum(parts, (part) => notional(magnitude(part.size), part.entryPrice))
  return collateralUsd <= 0n ? 1 : Math.max(1, Number((boughtUsd * 2n + collateralUsd) / (collateralUsd * 2n)))
}

/** USD (1e6) of so many base units, below zero for a short. */
export function notional(size: bigint, price: bigint): bigint {
  return (size * price) / P_10 / E18_TO_E6
}

function sum(parts: readonly Part[], of: (part: Part) => bigint): bigint {
  return parts.reduce((total, part) => total + of(part), 0n)
}

function scaled(text: string, decimals: number): bigint {
  return scaleDecimalTruncated(text as Decimal, decimals)
}
