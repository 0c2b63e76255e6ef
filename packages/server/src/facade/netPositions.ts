import type { PairQuote, ChainMarkets } from '../trading/market/chainMarkets.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import {
  abs,
  BaseSize,
  CollateralAmount,
  max,
  MicroUsd,
  min,
  Price,
  Usd,
  type Decimal,
  type Position,
} from '@bezel/protocol'
import { lastPrices, positionAnswer } from '../trading/positions/positionAnswer.ts'
import type { Moment } from '../trading/valuation/chainState.ts'
import { coinsOf, type Coin } from './coins.ts'
import { microUsd, usdOf } from './priceText.ts'

/** One trade on the chain. Its size is negative for a short. */
interface Part {
  readonly size: BaseSize
  readonly entryPrice: Price
  readonly mark: Price
  readonly liquidationPrice: Price
  readonly collateralUsd: MicroUsd
  readonly pnlUsd: MicroUsd
  readonly fundingUsd: MicroUsd
}

/** All trades of a trader in one coin as one position, because clients of the facade know one position per coin. */
export interface NetPosition {
  readonly coin: Coin
  /** Signed. Zero when longs and shorts are of the same size. */
  readonly size: BaseSize
  /** Average entry price of the trades on the net side, weighted by size. */
  readonly entryPrice: Price
  readonly mark: Price
  /** The liquidation price nearest to the mark among the trades on the net side; `undefined` when there is none. */
  readonly liquidationPrice: Price | undefined
  /** Collateral of all trades. */
  readonly collateralUsd: MicroUsd
  readonly pnlUsd: MicroUsd
  /** Pending funding. Positive when the trader owes it. */
  readonly fundingUsd: MicroUsd
  /** Absolute size times the mark. */
  readonly valueUsd: MicroUsd
  readonly leverage: number
}

/**
 * Nets positions by coin, in the order of asset ids. Pairs that the markets do not contain yet are left out. A pair
 * without a price is valued at its entry price.
 */
export function netPositions(
  positions: readonly LivePosition[],
  chain: ChainMarkets,
  quote: (pairIndex: number) => PairQuote | undefined,
  at: Moment,
): NetPosition[] {
  const parts = new Map<number, Part[]>()
  for (const position of positions) {
    const { pairIndex } = position.state.trade
    const answer = positionAnswer(position, chain, lastPrices(position, quote(pairIndex)), at)
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
  const usd = (text: string): MicroUsd => usdOf(token, CollateralAmount.parseTruncated(text as Decimal, token.decimals))
  const size = BaseSize.parseTruncated(answer.size as Decimal)
  return {
    size: answer.side === 'long' ? size : BaseSize.of(-size),
    entryPrice: Price.parseTruncated(answer.entryPrice as Decimal),
    mark: Price.parseTruncated(answer.markPrice as Decimal),
    liquidationPrice: Price.parseTruncated(answer.liquidationPrice as Decimal),
    collateralUsd: usd(answer.collateral),
    pnlUsd: usd(answer.unrealizedPnl),
    fundingUsd: usd(answer.fundingFee),
  }
}

function net(coin: Coin, parts: readonly Part[]): NetPosition {
  const size = BaseSize.of(sum(parts, (part) => part.size))
  const { mark } = parts[0]!
  // Longs and shorts of the same size have no net side: then all trades count.
  const leading = parts.filter((part) => part.size * size > 0n)
  const counted = leading.length > 0 ? leading : parts
  const collateralUsd = MicroUsd.of(sum(parts, (part) => part.collateralUsd))
  return {
    coin,
    size,
    mark,
    collateralUsd,
    entryPrice: entryOf(counted),
    liquidationPrice: size === 0n ? undefined : nearest(leading, size > 0n),
    pnlUsd: MicroUsd.of(sum(parts, (part) => part.pnlUsd)),
    fundingUsd: MicroUsd.of(sum(parts, (part) => part.fundingUsd)),
    valueUsd: notional(BaseSize.of(abs(size)), mark),
    leverage: leverageOf(parts, collateralUsd),
  }
}

function entryOf(parts: readonly Part[]): Price {
  const weight = sum(parts, (part) => abs(part.size))
  if (weight === 0n) return parts[0]!.entryPrice
  return Price.of(sum(parts, (part) => abs(part.size) * part.entryPrice) / weight)
}

/** Returns the liquidation price reached first: the highest for longs, the lowest for shorts. */
function nearest(parts: readonly Part[], isLong: boolean): Price | undefined {
  const prices = parts.map(({ liquidationPrice }) => liquidationPrice).filter((price) => price > 0n)
  return prices.length === 0 ? undefined : prices.reduce(isLong ? max<Price> : min<Price>)
}

/** Returns the notional value at entry over the collateral, rounded to a whole number. */
function leverageOf(parts: readonly Part[], collateralUsd: MicroUsd): number {
  const boughtUsd = sum(parts, (part) => notional(BaseSize.of(abs(part.size)), part.entryPrice))
  return collateralUsd <= 0n ? 1 : Math.max(1, Number((boughtUsd * 2n + collateralUsd) / (collateralUsd * 2n)))
}

/** Returns the value of a size in USD. Negative for a short. */
function notional(size: BaseSize, price: Price): MicroUsd {
  return microUsd(Usd.of((size * price) / Price.one))
}

function sum(parts: readonly Part[], of: (part: Part) => bigint): bigint {
  return parts.reduce((total, part) => total + of(part), 0n)
}
