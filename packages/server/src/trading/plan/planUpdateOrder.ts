import { scaleDecimal, type Decimal, type UpdateOrderRequest } from '@bezel/protocol'
import type { Precision } from '../market/precision.ts'
import { readTerms, refuseIssues, requirePrecision } from './bodyTerms.ts'
import { PRICE_DECIMALS, SLIPPAGE_DECIMALS } from './decimals.ts'
import { encodeCall } from './encodeCall.ts'
import { marketOfPair } from './listed.ts'
import { noneWhenZero } from './normalizeOrder.ts'
import { notModifiable, type ChangePlan, type KnownOrder, type TradingContext } from './plan.ts'
import { planOpening } from './planOpening.ts'

type Changes = ChangePlan['changes']

/** The terms of a resting order once it is changed. */
interface NewTerms {
  readonly tradeIndex: number
  readonly size: Decimal
  readonly price: bigint
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
}

/** A change of a resting order. The chain changes all but the size in one call, which wants the unchanged values too; another size is a new order there. */
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
    slippage: SLIPPAGE_DECIMALS,
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
  const slippageP = Number(scaleDecimal(slippage, SLIPPAGE_DECIMALS)!)
  return {
    kind: 'update',
    calls: [encodeCall('updateOpenOrder', [tradeIndex, price, priceUnits(tp), priceUnits(sl), slippageP])],
    action: { market: record.request.market, leverage: null, spendUsd: 0n },
    validity: 'resting',
    takes: null,
  }
}

/** Cancels and places again in one transaction, so that there are never two orders and never none. */
function planReplace({ record }: KnownOrder, terms: NewTerms, context: TradingContext): Omit<ChangePlan, 'changes'> {
  const { request, trader } = record
  const market = marketOfPair(context.chain, request.pairIndex)
  const opening = planOpening({ ...request, ...terms, market, trader }, context)
  const growthUsd = opening.notionalUsd - record.spendUsd
  return {
    kind: 'replace',
    calls: [encodeCall('cancelOpenOrder', [terms.tradeIndex]), opening.call],
    // What the order was made with counts already.
    action: { market: request.market, leverage: opening.leverage, spendUsd: growthUsd > 0n ? growthUsd : 0n },
    validity: 'resting',
    // The whole of it must be allowed, although the cancel gives back what the order held.
    takes: { collateralIndex: request.collateralIndex, amount: opening.collateralAmount },
  }
}

/** 1e10; `null` is none. */
function priceUnits(price: Decimal | null): bigint {
  return price === null ? 0n : scaleDecimal(price, PRICE_DECIMALS)!
}
