import { Usd, Price, Slippage, type CollateralAmount, type Decimal, type UpdateOrderRequest } from '@bezel/protocol'
import type { Precision } from '../market/chainMarkets.ts'
import type { OrderState } from '../orders/orderModel.ts'
import { readTerms, refuseIssues, requirePrecision } from './bodyTerms.ts'
import { encodeCall } from './encodeCall.ts'
import { marketOfPair } from './listed.ts'
import { noneWhenZero } from './normalizeOrder.ts'
import { notModifiable, type ChangePlan, type KnownOrder, type TradingContext } from './plan.ts'
import { holdsEnough, planOpening } from './planOpening.ts'
import { checkNewStops, checkOrderStops, type StopField } from './stops.ts'

type Changes = ChangePlan['changes']

/** The terms of a resting order after the change. */
interface NewTerms {
  readonly tradeIndex: number
  readonly size: Decimal
  readonly price: Price
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
}

/** An order that may be resting on the chain. */
export interface RestingOrder extends KnownOrder {
  /** Collateral that the order holds on the chain; `undefined` when it was placed before this was recorded. */
  readonly held: CollateralAmount | undefined
}

/**
 * Plans the change of a resting order. The chain changes sl, tp, slippage and price in one call, which needs the
 * unchanged values too. But the collateral stays with it, so another size, or a price at which that collateral buys
 * another size, needs a new order on the chain.
 */
export function planUpdateOrder(order: RestingOrder, body: UpdateOrderRequest, context: TradingContext): ChangePlan {
  const given = readBody(body)
  const { record, state } = order
  const { tradeIndex } = state
  if (state.status !== 'open' || tradeIndex === null || state.price === null) {
    throw notModifiable(order, 'Only a resting order can be changed.')
  }
  const market = marketOfPair(context.chain, record.request.pairIndex)
  requirePrecisions(given, state, market)
  const asked = changesOf(given)
  const { size, price, sl, tp, slippage } = { ...state, ...asked }
  const terms = { tradeIndex, size, price: priceUnits(price), sl, tp, slippage }
  const isKept = size === state.size && (price === state.price || isHeld(order, terms, context))
  const plan = isKept ? planUpdate(order, terms) : planReplace(order, terms, context)
  const stopped = { ...record.request, ...terms, market }
  const changed = changedStops(given)
  const { sl: kept, warnings } =
    changed === undefined ? checkOrderStops(stopped, context) : checkNewStops(stopped, changed, context)
  const changes = kept === sl ? asked : { ...asked, sl: kept }
  return { ...plan, warnings, changes }
}

/** True when the collateral that the order holds also buys its size at the new price. */
function isHeld({ record, held }: RestingOrder, terms: NewTerms, context: TradingContext): boolean {
  const { request, trader } = record
  const market = marketOfPair(context.chain, request.pairIndex)
  return held !== undefined && holdsEnough({ ...request, ...terms, market, trader }, held, context)
}

type Given = { readonly [Name in keyof UpdateOrderRequest]: Decimal }

function readBody({ price, size, sl, tp, slippage }: UpdateOrderRequest): Given {
  const given = readTerms({ price, size, sl, tp, slippage })
  if (Object.keys(given).length === 0) refuseIssues([{ path: 'body', message: 'names nothing to change' }])
  return given
}

/** Returns the stops that a change names; `undefined` when it names anything else, too. */
function changedStops({ price, size, slippage, ...stops }: Given): readonly StopField[] | undefined {
  const isOfStops = price === undefined && size === undefined && slippage === undefined
  return isOfStops ? (Object.keys(stops) as StopField[]) : undefined
}

/** Throws `PRECISION_ERROR`. What the order has already passes, so that a value that was read can be sent back. */
function requirePrecisions(given: Given, state: OrderState, { pricePrecision, sizePrecision }: Precision): void {
  const maxDecimals: Readonly<Record<keyof Given, number>> = {
    price: pricePrecision,
    sl: pricePrecision,
    tp: pricePrecision,
    size: sizePrecision,
    slippage: Slippage.decimals,
  }
  for (const field of Object.keys(given) as (keyof Given)[]) {
    const value = given[field]
    if (value !== undefined && value !== state[field]) requirePrecision(field, value, maxDecimals[field])
  }
}

function changesOf({ sl, tp, ...rest }: Given): Changes {
  return {
    ...rest,
    ...(sl === undefined ? {} : { sl: noneWhenZero(sl) }),
    ...(tp === undefined ? {} : { tp: noneWhenZero(tp) }),
  }
}

function planUpdate({ record }: KnownOrder, terms: NewTerms): Omit<ChangePlan, 'changes' | 'warnings'> {
  const { tradeIndex, price, sl, tp, slippage } = terms
  const slippageP = Number(Slippage.parse(slippage)!)
  return {
    kind: 'update',
    calls: [encodeCall('updateOpenOrder', [tradeIndex, price, priceUnits(tp), priceUnits(sl), slippageP])],
    action: { market: record.request.market, leverage: null, spendUsd: Usd.zero },
    validity: 'resting',
    takes: null,
  }
}

/** Plans to cancel and place again in one transaction, so that there are never two orders and never none. */
function planReplace(
  { record, held }: RestingOrder,
  terms: NewTerms,
  context: TradingContext,
): Omit<ChangePlan, 'changes' | 'warnings'> {
  const { request, trader } = record
  const market = marketOfPair(context.chain, request.pairIndex)
  const opening = planOpening({ ...request, ...terms, market, trader }, context)
  return {
    kind: 'replace',
    calls: [encodeCall('cancelOpenOrder', [terms.tradeIndex]), opening.call],
    action: { market: request.market, leverage: opening.leverage, spendUsd: opening.notionalUsd },
    validity: 'resting',
    takes: {
      collateralIndex: request.collateralIndex,
      amount: opening.collateralAmount,
      ...(held === undefined ? {} : { returned: held }),
    },
  }
}

/** Converts a price to the chain's scale; `null` becomes 0, which means none. */
function priceUnits(price: Decimal | null): Price {
  return price === null ? Price.zero : Price.parse(price)!
}
