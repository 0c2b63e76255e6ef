import { Price, type Decimal } from '@bezel/protocol'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import type { ListedMarket } from '../../trading/market/chainMarkets.ts'
import { positionSize } from '../../trading/plan/closing.ts'
import { marketOfPair } from '../../trading/plan/listed.ts'
import type { TradingContext } from '../../trading/plan/plan.ts'
import { canCarryStops, type StoppedOrder } from '../../trading/plan/stops.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { clampStopLoss } from '../../trading/valuation/liquidation.ts'
import { roundTo } from '../priceText.ts'
import { TRIGGER_KINDS, wholeKeyOf } from '../triggers.ts'
import { presentOf, type TradingParts } from './exchangeParts.ts'

// A position of the facade may be many trades. Its take profit and stop loss are those of all of them, so a trade that
// is added takes them over.

/** The prices of a position's take profit and stop loss; absent where it has none. */
export type StopsInForce = Readonly<Partial<Record<TriggerKind, Price>>>

/**
 * Reads the triggers of a position, made of trades of one coin and side: the price that a client asked for, while a
 * trade has it or it is on its way to the chain, else the price of the greatest part. One whose removal is on its way
 * is not in force. Prices are in steps of the market, nearest, so that they can be ordered.
 */
export async function stopsInForce(
  parts: Pick<TradingParts, 'reads' | 'orders' | 'relayer'>,
  trades: readonly LivePosition[],
): Promise<StopsInForce> {
  const [first] = trades
  if (first === undefined) return {}
  const trading = parts.orders.trading()
  const market = marketOfPair(trading.chain, first.state.trade.pairIndex)
  const stops: Partial<Record<TriggerKind, Price>> = {}
  for (const kind of TRIGGER_KINDS) {
    const key = wholeKeyOf(first, kind)
    const placed = await parts.reads.triggers.placed(key)
    const isOnItsWay =
      placed !== undefined && (await parts.reads.triggers.onItsWay(key, parts.relayer))?.oid === placed.oid
    if (isOnItsWay && placed.price === 0n) continue
    // What was on its way may have arrived while it was asked for.
    const present = presentOf(parts.orders, trades)
    const isPlaced = placed !== undefined && present.some((trade) => carries(trade, kind, placed.price, market))
    const price = isPlaced || isOnItsWay ? placed.price : priceOfMost(present, kind, trading)
    if (price !== undefined) stops[kind] = steppedPrice(price, market)
  }
  return stops
}

/** True when the trade has the trigger that the contracts make of a price. */
function carries(trade: LivePosition, kind: TriggerKind, price: Price, market: ListedMarket): boolean {
  return trade.state.trade[kind] > 0n && hasStop(trade, kind, price, market)
}

/** True when the trade has what the contracts make of a price; they bring a far stop loss nearer. Zero means none. */
export function hasStop({ state }: LivePosition, kind: TriggerKind, price: Price, market: ListedMarket): boolean {
  const { trade, liquidationParams } = state
  const kept = kind === 'tp' ? price : clampStopLoss({ ...trade, sl: price }, liquidationParams, market.listing)
  return trade[kind] === kept
}

/** Returns the price at which the greatest part of the position has its trigger; the oldest of equal ones. */
function priceOfMost(trades: readonly LivePosition[], kind: TriggerKind, trading: TradingContext): Price | undefined {
  const sizes = new Map<Price, bigint>()
  for (const trade of trades) {
    const price = trade.state.trade[kind]
    if (price > 0n) sizes.set(price, (sizes.get(price) ?? 0n) + positionSize(trade, trading))
  }
  const [first, ...others] = sizes
  return first && others.reduce((most, one) => (one[1] > most[1] ? one : most), first)[0]
}

function steppedPrice(price: Price, { pricePrecision }: ListedMarket): Price {
  return roundTo(price, 10n ** BigInt(Price.decimals - pricePrecision), 'nearest')
}

/** An order that opens, without its triggers. */
type Entry = Omit<StoppedOrder, TriggerKind | 'slippage'>

/** Returns those triggers that an order can have at its own price; it is never refused for the others. */
export function takenStops(stops: StopsInForce, entry: Entry, trading: TradingContext): StopsInForce {
  const isTaken = ([kind, price]: [string, Price]): boolean =>
    canCarryStops({ ...entry, sl: null, tp: null, [kind]: Price.format(price) }, trading)
  return Object.fromEntries(Object.entries(stops).filter(isTaken))
}

/** Returns triggers as the terms of an order. */
export function stopTerms(stops: StopsInForce): Readonly<Partial<Record<TriggerKind, Decimal>>> {
  return Object.fromEntries(Object.entries(stops).map(([kind, price]) => [kind, Price.format(price)]))
}
