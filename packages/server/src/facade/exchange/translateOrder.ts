import type { LivePosition } from '../../trading/positions/livePosition.ts'
import { formatDecimal, type CreateOrderRequest, type Decimal } from '@bezel/protocol'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { sizeUnit, truncateSize } from '../../trading/plan/closing.ts'
import { BASE_SIZE_DECIMALS } from '../../trading/plan/decimals.ts'
import { larger } from '../../trading/valuation/scales.ts'
import { sizeStep, type Coin } from '../coins.ts'
import { defaultLeverage } from '../leverage.ts'
import { ERR } from './errStrings.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext } from './exchangeParts.ts'
import { heldSize, isAllHeld, marketView, priceOf, sizeOf, type MarketView } from './marketView.ts'
import type { OrderItem } from './orderItem.ts'
import { boundTerms, closingTerms, isMarketable, postOnlyRefusal, refuseFarPrice } from './priceBound.ts'

/** Triggers that come with an order and are for what it opens; prices of the coin. */
export type Attached = Readonly<Partial<Record<TriggerKind, Decimal>>>

/** What an order of the facade is natively: an order, or the take profit or stop loss of positions. */
export type TranslatedOrder =
  | { readonly kind: 'order'; readonly coin: Coin; readonly body: CreateOrderRequest }
  | {
      readonly kind: 'trigger'
      readonly coin: Coin
      readonly tpsl: TriggerKind
      readonly price: Decimal
      readonly positions: readonly LivePosition[]
    }

export interface OrderToTranslate {
  readonly item: OrderItem
  readonly attached: Attached
  /** Its triggers are for the whole position, whatever their size says. */
  readonly isOfPosition: boolean
}

/** Throws an `ExchangeErr` for what there is no native order for. */
export async function translateOrder(context: ActionContext, of: OrderToTranslate): Promise<TranslatedOrder> {
  const leverage = await leverageOf(context, of.item.asset)
  const view = marketView(context, of.item.asset)
  const reduced = reducedBy(view, of)
  if (reduced !== undefined && Object.keys(of.attached).length > 0) {
    throw new ExchangeErr('An order that reduces has no TP/SL of its own: set those of the position.')
  }
  const { terms } = of.item
  if (terms.kind === 'trigger') {
    return reduced === undefined ? entryTrigger(view, of, leverage) : positionTrigger(view, of, reduced)
  }
  const price = priceOf(view, of.item.px)
  refuseFarPrice(view, price.units)
  if (!isMarketable(view, of.item.isBuy, price.units)) {
    if (terms.tif === 'Ioc') throw new ExchangeErr(ERR.noMatch)
    if (reduced !== undefined) return restingReduction(view, of, reduced)
    return { ...opening(view, of, leverage, 'limit', price), kind: 'order' }
  }
  if (terms.tif === 'Alo') throw postOnlyRefusal(view)
  return marketOrder(view, of, leverage, reduced, price.units)
}

/** What the trader chose for the coin, or else what is shown as the default. */
async function leverageOf({ parts, agent }: ActionContext, asset: number): Promise<string> {
  const chosen = await parts.reads.leverageOf(agent.trader, asset)
  const pair = parts.orders.trading().chain.pairs.get(asset)
  return String(chosen ?? (pair === undefined ? 1 : defaultLeverage(pair)))
}

/**
 * The positions that an order takes from; `undefined` when it opens one. Clients know one position per coin, so an order against it is never
 * opened beside it, and one that is larger is refused rather than done by halves.
 */
function reducedBy(view: MarketView, { item, isOfPosition }: OrderToTranslate): readonly LivePosition[] | undefined {
  const opposite = view.positions.filter(({ state }) => state.trade.long !== item.isBuy)
  const against = heldSize(view, opposite) - heldOnSide(view, item)
  if (item.reduceOnly || isOfPosition) {
    // Beside as much on the other side it would make the whole larger, whichever part it takes from.
    if (against <= 0n) throw new ExchangeErr(ERR.reduceOnly)
    return opposite
  }
  if (against <= 0n) return undefined
  const { units } = sizeOf(view, item.sz)
  // A size that was rounded up to a step of the coin is still the whole position.
  if (units - against >= sizeStep(view.coin)) throw new ExchangeErr(ERR.flip)
  return opposite
}

/** What the trader holds on the side that an order trades. There is some beside the opposite when both were opened as resting orders, or natively. */
function heldOnSide(view: MarketView, { isBuy }: OrderItem): bigint {
  return heldSize(
    view,
    view.positions.filter(({ state }) => state.trade.long === isBuy),
  )
}

interface NativePrice {
  readonly text: Decimal
  readonly units: bigint
}

function opening(
  view: MarketView,
  { item, attached }: OrderToTranslate,
  leverage: string,
  type: 'limit' | 'stop',
  price: NativePrice,
): { readonly coin: Coin; readonly body: CreateOrderRequest } {
  const body = { ...commonBody(view, item), type, leverage, price: price.text }
  return { coin: view.coin, body: { ...body, ...attachedTo(view, item, attached, price.units) } }
}

function marketOrder(
  view: MarketView,
  { item, attached }: OrderToTranslate,
  leverage: string,
  reduced: readonly LivePosition[] | undefined,
  bound: bigint,
): TranslatedOrder {
  const common = { ...commonBody(view, item), type: 'market', leverage } as const
  const { isBuy } = item
  const body =
    reduced === undefined
      ? { ...common, ...boundTerms(view, isBuy, bound), ...attachedTo(view, item, attached, view.mark) }
      : {
          ...common,
          ...closingTerms(view, isBuy, bound, reduced),
          size: reducingSize(view, item, reduced),
          reduceOnly: true,
        }
  return { kind: 'order', coin: view.coin, body }
}

/** Clients close a position with its size as they were told it, which is cut off: all of it is meant, and nothing may be left behind. */
function reducingSize(view: MarketView, item: OrderItem, positions: readonly LivePosition[]): Decimal {
  const { text, units } = sizeOf(view, item.sz)
  const held = heldSize(view, positions)
  const net = held - heldOnSide(view, item)
  if (!isAllHeld(view, units, net)) return text
  // Less than all of it, and never so much that the whole changes its side.
  if (net < held) return formatDecimal(truncateSize(net, view.market), BASE_SIZE_DECIMALS)
  // Of one position what is below the places of the market is closed with it; of several the last would keep some.
  const least = positions.length === 1 ? truncateSize(held, view.market) : roundedUp(held, view.market)
  const whole = larger(truncateSize(units, view.market), least)
  return formatDecimal(larger(whole, sizeUnit(view.market.sizePrecision)), BASE_SIZE_DECIMALS)
}

function roundedUp(size: bigint, market: MarketView['market']): bigint {
  return truncateSize(size + sizeUnit(market.sizePrecision) - 1n, market)
}

function commonBody(
  view: MarketView,
  item: OrderItem,
): Pick<CreateOrderRequest, 'market' | 'side' | 'size' | 'clientId'> {
  return {
    market: view.market.symbol,
    side: item.isBuy ? 'long' : 'short',
    size: sizeOf(view, item.sz).text,
    ...(item.cloid === null ? {} : { clientId: item.cloid }),
  }
}

/** Native prices of what comes with an order that would be opened at `entry` (1e10). */
function attachedTo(
  view: MarketView,
  { isBuy }: OrderItem,
  attached: Attached,
  entry: bigint,
): Pick<CreateOrderRequest, TriggerKind> {
  const prices: Partial<Record<TriggerKind, Decimal>> = {}
  for (const kind of ['tp', 'sl'] as const) {
    const px = attached[kind]
    if (px === undefined) continue
    const { text, units } = priceOf(view, px)
    requireSide(units, entry, (kind === 'tp') === isBuy)
    prices[kind] = text
  }
  return prices
}

/** A stop that buys waits above the mark, a take profit that buys below it; the other way round for a sale. */
function requireTriggerSide(view: MarketView, item: OrderItem, tpsl: TriggerKind, price: bigint): void {
  requireSide(price, view.mark, (tpsl === 'sl') === item.isBuy)
}

function requireSide(price: bigint, from: bigint, isAbove: boolean): void {
  if (isAbove ? price <= from : price >= from) throw new ExchangeErr(ERR.trigger)
}

/** A stop entry, or one that waits for a better price. */
function entryTrigger(view: MarketView, of: OrderToTranslate, leverage: string): TranslatedOrder {
  const { tpsl, price } = triggerOf(view, of.item)
  requireTriggerSide(view, of.item, tpsl, price.units)
  return { ...opening(view, of, leverage, tpsl === 'sl' ? 'stop' : 'limit', price), kind: 'order' }
}

function positionTrigger(view: MarketView, of: OrderToTranslate, positions: readonly LivePosition[]): TranslatedOrder {
  const { tpsl, price } = triggerOf(view, of.item)
  requireTriggerSide(view, of.item, tpsl, price.units)
  if (!of.isOfPosition) requireWhole(view, of.item, positions, ERR.partialTrigger)
  return { kind: 'trigger', coin: view.coin, tpsl, price: price.text, positions }
}

function triggerOf(
  view: MarketView,
  { terms }: OrderItem,
): { readonly tpsl: TriggerKind; readonly price: NativePrice } {
  if (terms.kind !== 'trigger') throw new Error('the order is no trigger')
  return { tpsl: terms.tpsl, price: priceOf(view, terms.triggerPx) }
}

/** An order that rests and reduces is what a take profit is natively: it waits for a better price and then closes. */
function restingReduction(
  view: MarketView,
  { item }: OrderToTranslate,
  positions: readonly LivePosition[],
): TranslatedOrder {
  requireWhole(view, item, positions, ERR.partialResting)
  return { kind: 'trigger', coin: view.coin, tpsl: 'tp', price: priceOf(view, item.px).text, positions }
}

/** A position has one take profit and one stop loss, which close all of it. */
function requireWhole(view: MarketView, item: OrderItem, positions: readonly LivePosition[], refusal: string): void {
  if (!isAllHeld(view, sizeOf(view, item.sz).units, heldSize(view, positions))) throw new ExchangeErr(refusal)
}
