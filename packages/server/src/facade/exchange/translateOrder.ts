import { formatDecimal, type CreateOrderRequest, type Decimal } from '@bezel/protocol'
import type { LivePosition } from '../../positions/livePositions.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { sizeUnit, truncateSize } from '../../trading/plan/closing.ts'
import { BASE_SIZE_DECIMALS } from '../../trading/plan/decimals.ts'
import type { Coin } from '../coins.ts'
import { defaultLeverage } from '../leverage.ts'
import { ERR } from './errStrings.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext } from './exchangeParts.ts'
import { heldSize, marketView, priceOf, sizeOf, type MarketView } from './marketView.ts'
import type { OrderItem } from './orderItem.ts'
import { boundTerms, isMarketable, postOnlyRefusal, refuseFarPrice } from './priceBound.ts'

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
  if (item.reduceOnly || isOfPosition) {
    if (opposite.length === 0) throw new ExchangeErr(ERR.reduceOnly)
    return opposite
  }
  const same = view.positions.filter(({ state }) => state.trade.long === item.isBuy)
  const against = heldSize(view, opposite) - heldSize(view, same)
  if (against <= 0n) return undefined
  const { units } = sizeOf(view, item.sz)
  // A size that was rounded up to what the market counts in is still the whole position.
  if (units - against >= sizeUnit(view.market.sizePrecision)) throw new ExchangeErr(ERR.flip)
  return opposite
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
  const common = {
    ...commonBody(view, item),
    type: 'market',
    leverage,
    ...boundTerms(view, item.isBuy, bound),
  } as const
  const body =
    reduced === undefined
      ? { ...common, ...attachedTo(view, item, attached, view.mark) }
      : { ...common, size: reducingSize(view, item, reduced), reduceOnly: true }
  return { kind: 'order', coin: view.coin, body }
}

/** Clients close a position with its size as they were told it, which has more places than the market takes: all of it is meant. */
function reducingSize(view: MarketView, item: OrderItem, positions: readonly LivePosition[]): Decimal {
  const { text, units } = sizeOf(view, item.sz)
  const unit = sizeUnit(view.market.sizePrecision)
  if (units < truncateSize(heldSize(view, positions), view.market)) return text
  const whole = units - (units % unit)
  return formatDecimal(whole > 0n ? whole : unit, BASE_SIZE_DECIMALS)
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
  const whole = truncateSize(heldSize(view, positions), view.market)
  if (sizeOf(view, item.sz).units < whole) throw new ExchangeErr(refusal)
}
