import { BaseSize, max, Price, type CreateOrderRequest, type Decimal, type OrderType } from '@bezel/protocol'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { sizeUnit, truncateSize } from '../../trading/plan/closing.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { sizeStep, type Coin, defaultLeverage } from '../coins.ts'
import { ERR, ExchangeErr, wrongSideText } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'
import { heldSize, isAllHeld, marketView, priceOf, sizeOf, type MarketView } from './marketView.ts'
import type { OrderItem } from './orderItem.ts'
import { boundTerms, closingTerms, isMarketable, postOnlyRefusal, refuseFarPrice } from './priceBound.ts'
import { stopsInForce, stopTerms, takenStops, type StopsInForce } from './stopsInForce.ts'
import { TRIGGER_KINDS } from '../triggers.ts'

/** The triggers of the position that an order opens. Prices are for one coin. */
export type Attached = Readonly<Partial<Record<TriggerKind, Decimal>>>

/** The native form of an order of the facade: an order, or the take profit or stop loss of positions. */
export type TranslatedOrder =
  | {
      readonly kind: 'order'
      readonly coin: Coin
      readonly body: CreateOrderRequest
      /** The triggers that its trade takes over from the position; empty for an order that reduces. */
      readonly inherits: readonly TriggerKind[]
    }
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
  /** True when the triggers are for the whole position, whatever their size says. */
  readonly isOfPosition: boolean
}

/** Translates an order into its native form. Throws an `ExchangeErr` when there is none. */
export async function translateOrder(context: ActionContext, of: OrderToTranslate): Promise<TranslatedOrder> {
  const leverage = await leverageOf(context, of.item.asset)
  const view = marketView(context, of.item.asset)
  const reduced = reducedBy(view, of)
  if (reduced !== undefined && Object.keys(of.attached).length > 0) {
    throw new ExchangeErr('An order that reduces has no TP/SL of its own: set those of the position.')
  }
  const { terms } = of.item
  const added = { of, leverage, inherited: reduced === undefined ? await inheritedBy(context, view, of) : {} }
  if (terms.kind === 'trigger') {
    return reduced === undefined ? entryTrigger(view, added) : positionTrigger(view, of, reduced)
  }
  const price = priceOf(view, of.item.px)
  refuseFarPrice(view, price.units)
  if (!isMarketable(view, of.item.isBuy, price.units)) {
    if (terms.tif === 'Ioc') throw new ExchangeErr(ERR.noMatch)
    if (reduced !== undefined) return restingReduction(view, of, reduced)
    return opening(view, added, 'limit', price)
  }
  if (terms.tif === 'Alo') throw postOnlyRefusal(view)
  return marketOrder(view, added, reduced, price.units)
}

/** An order that opens, with what it takes from the trader's settings and position. */
interface AddedOrder {
  readonly of: OrderToTranslate
  readonly leverage: string
  readonly inherited: StopsInForce
}

/** Reads the triggers of the position that an order adds to; those that it names itself are left out. */
async function inheritedBy(context: ActionContext, view: MarketView, of: OrderToTranslate): Promise<StopsInForce> {
  const sameSide = view.positions.filter(({ state }) => state.trade.long === of.item.isBuy)
  const stops = Object.entries(await stopsInForce(context.parts, sameSide))
  return Object.fromEntries(stops.filter(([kind]) => of.attached[kind as TriggerKind] === undefined))
}

function inheritsOf({ attached }: OrderToTranslate): readonly TriggerKind[] {
  return TRIGGER_KINDS.filter((kind) => attached[kind] === undefined)
}

/** Returns the leverage that the trader chose for the coin, or the default that the facade shows. */
async function leverageOf({ parts, agent }: ActionContext, asset: number): Promise<string> {
  const chosen = await parts.reads.leverageOf(agent.trader, asset)
  const pair = parts.orders.trading().chain.pairs.get(asset)
  return String(chosen ?? (pair === undefined ? 1 : defaultLeverage(pair)))
}

/**
 * Returns the positions that an order reduces; `undefined` when it opens one. Clients see one position per coin, so an
 * order against it never opens another position beside it, and an order larger than it is refused rather than half
 * done.
 */
function reducedBy(view: MarketView, { item, isOfPosition }: OrderToTranslate): readonly LivePosition[] | undefined {
  const opposite = view.positions.filter(({ state }) => state.trade.long !== item.isBuy)
  const against = heldSize(view, opposite) - heldOnSide(view, item)
  if (item.reduceOnly || isOfPosition) {
    // With as much held on the order's own side, reducing the opposite positions would make the net position larger.
    if (against <= 0n) throw new ExchangeErr(ERR.reduceOnly)
    return opposite
  }
  if (against <= 0n) return undefined
  const { units } = sizeOf(view, item.sz)
  // A size that was rounded up to a size step of the coin still means the whole position.
  if (units - against >= sizeStep(view.coin)) throw new ExchangeErr(ERR.flip)
  return opposite
}

/**
 * Returns the size held on the order's own side. Positions on both sides exist when both were opened as resting orders,
 * or natively.
 */
function heldOnSide(view: MarketView, { isBuy }: OrderItem): BaseSize {
  return heldSize(
    view,
    view.positions.filter(({ state }) => state.trade.long === isBuy),
  )
}

interface NativePrice {
  readonly text: Decimal
  readonly units: Price
}

/**
 * Returns the triggers of the position as the terms of an order that adds to it. The order is never refused for them:
 * those it can't have stay out.
 */
function inheritedTerms(
  { market, trading }: MarketView,
  { of: { item }, leverage, inherited }: AddedOrder,
  type: OrderType,
  price: Price,
): Pick<CreateOrderRequest, TriggerKind> {
  const entry = {
    market,
    collateralIndex: trading.chain.defaultCollateralIndex,
    side: item.isBuy ? 'long' : 'short',
    type,
    price,
    leverage: leverage as Decimal,
  } as const
  return stopTerms(takenStops(inherited, entry, trading))
}

function opening(view: MarketView, added: AddedOrder, type: 'limit' | 'stop', price: NativePrice): TranslatedOrder {
  const { of, leverage } = added
  const { item, attached } = of
  const body = {
    ...commonBody(view, item),
    type,
    leverage,
    price: price.text,
    ...inheritedTerms(view, added, type, price.units),
    ...attachedTo(view, item, attached, price.units),
  }
  return { kind: 'order', coin: view.coin, body, inherits: inheritsOf(of) }
}

function marketOrder(
  view: MarketView,
  added: AddedOrder,
  reduced: readonly LivePosition[] | undefined,
  bound: Price,
): TranslatedOrder {
  const { of, leverage } = added
  const { item, attached } = of
  const common = { ...commonBody(view, item), type: 'market', leverage } as const
  const { isBuy } = item
  if (reduced !== undefined) {
    const terms = closingTerms(view, isBuy, bound, reduced)
    const body = { ...common, ...terms, size: reducingSize(view, item, reduced), reduceOnly: true }
    return { kind: 'order', coin: view.coin, body, inherits: [] }
  }
  const terms = boundTerms(view, isBuy, bound)
  const body = {
    ...common,
    ...terms,
    ...inheritedTerms(view, added, 'market', Price.parse(terms.price)!),
    ...attachedTo(view, item, attached, view.mark),
  }
  return { kind: 'order', coin: view.coin, body, inherits: inheritsOf(of) }
}

/**
 * Returns the native size of a reducing order. Clients close a position with the size they were shown, which is
 * rounded: that means all of it, and nothing may be left behind.
 */
function reducingSize(view: MarketView, item: OrderItem, positions: readonly LivePosition[]): Decimal {
  const { text, units } = sizeOf(view, item.sz)
  const held = heldSize(view, positions)
  const net = BaseSize.of(held - heldOnSide(view, item))
  if (!isAllHeld(view, units, net)) return text
  // Reduces less than everything on this side, and never so much that the net position changes its side.
  if (net < held) return BaseSize.format(truncateSize(net, view.market))
  // Closing a single position also closes the part below the market's size precision; with several, the last one would
  // keep a remainder, so the size is rounded up.
  const least = positions.length === 1 ? truncateSize(held, view.market) : roundedUp(held, view.market)
  const whole = max(truncateSize(units, view.market), least)
  return BaseSize.format(max(whole, sizeUnit(view.market.sizePrecision)))
}

function roundedUp(size: BaseSize, market: MarketView['market']): BaseSize {
  return truncateSize(BaseSize.of(size + sizeUnit(market.sizePrecision) - 1n), market)
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

/** Returns the native trigger prices of an order that would be opened at `entry` (1e10). */
function attachedTo(
  view: MarketView,
  { isBuy }: OrderItem,
  attached: Attached,
  entry: Price,
): Pick<CreateOrderRequest, TriggerKind> {
  const prices: Partial<Record<TriggerKind, Decimal>> = {}
  for (const kind of ['tp', 'sl'] as const) {
    const px = attached[kind]
    if (px === undefined) continue
    const { text, units } = priceOf(view, px)
    requireSide(units, entry, (kind === 'tp') === isBuy, wrongSideText(kind))
    prices[kind] = text
  }
  return prices
}

/**
 * Throws unless the trigger is on the right side of the mark: above it for a stop that buys and a take profit that
 * sells, below it otherwise.
 */
function requireTriggerSide(view: MarketView, item: OrderItem, tpsl: TriggerKind, price: Price): void {
  requireSide(price, view.mark, (tpsl === 'sl') === item.isBuy)
}

function requireSide(price: Price, from: Price, isAbove: boolean, text: string = ERR.trigger): void {
  if (isAbove ? price <= from : price >= from) throw new ExchangeErr(text)
}

/** Translates an opening trigger into a stop order, or into a limit order that waits for a better price. */
function entryTrigger(view: MarketView, added: AddedOrder): TranslatedOrder {
  const { item } = added.of
  const { tpsl, price } = triggerOf(view, item)
  requireTriggerSide(view, item, tpsl, price.units)
  return opening(view, added, tpsl === 'sl' ? 'stop' : 'limit', price)
}

function positionTrigger(view: MarketView, of: OrderToTranslate, positions: readonly LivePosition[]): TranslatedOrder {
  const { tpsl, price } = triggerOf(view, of.item)
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

/** Translates a resting reduce-only order into a take profit, which also waits for a better price and then closes. */
function restingReduction(
  view: MarketView,
  { item }: OrderToTranslate,
  positions: readonly LivePosition[],
): TranslatedOrder {
  requireWhole(view, item, positions, ERR.partialResting)
  return { kind: 'trigger', coin: view.coin, tpsl: 'tp', price: priceOf(view, item.px).text, positions }
}

/**
 * Throws unless the size is the whole position. A position has one take profit and one stop loss, which close all of
 * it.
 */
function requireWhole(view: MarketView, item: OrderItem, positions: readonly LivePosition[], refusal: string): void {
  if (!isAllHeld(view, sizeOf(view, item.sz).units, heldSize(view, positions))) throw new ExchangeErr(refusal)
}
