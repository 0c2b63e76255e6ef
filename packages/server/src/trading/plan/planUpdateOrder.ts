import { max, Usd, Price, Slippage, type Decimal, type UpdateOrderRequest } from '@bezel/protocol'
import type { Precision } from '../market/chainMarkets.ts'
import { readTerms, refuseIssues, requirePrecision } from './bodyTerms.ts'
import { encodeCall } from './encodeCall.ts'
import { marketOfPair } from './listed.ts'
import { noneWhenZero } from './normalizeOrder.ts'
import { notModifiable, type ChangePlan, type KnownOrder, type TradingContext } from './plan.ts'
import { planOpening } from './planOpening.ts'

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

/**
 * Plans the change of a resting order. The chain changes all terms but the size in one call, which needs the unchanged
 * values too; another size needs a new order on the chain.
 */
export function planUpdateOrder(order: KnownOrder, body: UpdateOrderRequest, context: TradingContext): ChangePlan {
  const given = readBody(body)
  const { record, state } = order
  const { tradeIndex } = state
  if (state.status !== 'open' || tradeIndex === null || state.price === null) {
    throw notModifiable(order, 'Only a resting order can be changed.')
  }
  requirePrecisions(given, marketOfPair(context.chain, record.request.pairIndex))
  const changes = changesOf(given)
  const { size, price, sl, tp, slippage } = { ...state, ...changes }
  const terms = { tradeIndex, size, price: priceUnits(price), sl, tp, slippage }
  return changes.size === undefined
    ? { ...planUpdate(order, terms), changes }
    : { ...planReplace(order, terms, context), changes }
}

type Given = { readonly [Name in keyof UpdateOrderRequest]: Decimal }

function readBody({ price, size, sl, tp, slippage }: UpdateOrderRequest): Given {
  const given = readTerms({ price, size, sl, tp, slippage })
  if (Object.keys(given).length === 0) refuseIssues([{ path: 'body', message: 'names nothing to change' }])
  return given
}

function requirePrecisions(given: Given, { pricePrecision, sizePrecision }: Precision): void {
  const maxDecimals: Readonly<Record<keyof Given, number>> = {
    price: pricePrecision,
    sl: pricePrecision,
    tp: pricePrecision,
    size: sizePrecision,
    slippage: Slippage.decimals,
  }
  for (const [field, value] of Object.entries(given)) {
    requirePrecision(field, value, maxDecimals[field as keyof Given])
  }
}

function changesOf({ sl, tp, ...rest }: Given): Changes {
  return {
    ...rest,
    ...(sl === undefined ? {} : { sl: noneWhenZero(sl) }),
    ...(tp === undefined ? {} : { tp: noneWhenZero(tp) }),
  }
}

function planUpdate({ record }: KnownOrder, terms: NewTerms): Omit<ChangePlan, 'changes'> {
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
function planReplace({ record }: KnownOrder, terms: NewTerms, context: TradingContext): Omit<ChangePlan, 'changes'> {
  const { request, trader } = record
  const market = marketOfPair(context.chain, request.pairIndex)
  const opening = planOpening({ ...request, ...terms, market, trader }, context)
  const growthUsd = Usd.of(opening.notionalUsd - record.spendUsd)
  return {
    kind: 'replace',
    calls: [encodeCall('cancelOpenOrder', [terms.tradeIndex]), opening.call],
    // The notional that the order was made with already counts.
    action: { market: request.market, leverage: opening.leverage, spendUsd: max(growthUsd, Usd.zero) },
    validity: 'resting',
    // The allowance must cover the whole amount, although the cancel returns what the order held.
    takes: { collateralIndex: request.collateralIndex, amount: opening.collateralAmount },
  }
}

/** Converts a price to the chain's scale; `null` becomes 0, which means none. */
function priceUnits(price: Decimal | null): Price {
  return price === null ? Price.zero : Price.parse(price)!
}
