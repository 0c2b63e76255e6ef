import type { Decimal } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { MalformedEnvelope } from '../signing/envelope.ts'
import { assetAt, booleanAt, cloidAt, decimalAt, objectAt } from './fields.ts'
import { isAbsent } from '../signing/envelope.ts'

/** The lifetime of an order: good till cancelled, immediate or cancel, or add liquidity only (post only). */
export type TimeInForce = 'Gtc' | 'Ioc' | 'Alo'

/**
 * An order as a client of the facade asks for it. Prices are for one coin and sizes count coins; one coin may stand for
 * many native units.
 */
export interface OrderItem {
  readonly asset: number
  readonly isBuy: boolean
  /** The worst price to accept. Ignored for a trigger, which executes at market. */
  readonly px: Decimal
  readonly sz: Decimal
  readonly reduceOnly: boolean
  readonly terms: OrderTerms
  readonly cloid: string | null
}

export type OrderTerms =
  | { readonly kind: 'limit'; readonly tif: TimeInForce }
  | { readonly kind: 'trigger'; readonly triggerPx: Decimal; readonly tpsl: TriggerKind }

/** Accepted `tif` values. The exchange's own web interface sends `FrontendMarket` for a market order. */
const TIMES_IN_FORCE: ReadonlyMap<JsonValue | undefined, TimeInForce> = new Map<JsonValue | undefined, TimeInForce>([
  ['Gtc', 'Gtc'],
  ['Alo', 'Alo'],
  ['Ioc', 'Ioc'],
  ['FrontendMarket', 'Ioc'],
])

export function readOrderItem(value: JsonValue | undefined, path: string): OrderItem {
  const item = objectAt(value, path)
  return {
    asset: assetAt(item.a, `${path}.a`),
    isBuy: booleanAt(item.b, `${path}.b`),
    px: decimalAt(item.p, `${path}.p`),
    sz: decimalAt(item.s, `${path}.s`),
    reduceOnly: booleanAt(item.r, `${path}.r`),
    terms: readTerms(item.t, `${path}.t`),
    cloid: isAbsent(item.c) ? null : cloidAt(item.c, `${path}.c`),
  }
}

function readTerms(value: JsonValue | undefined, path: string): OrderTerms {
  const terms = objectAt(value, path)
  if (terms.limit !== undefined) {
    const tif = TIMES_IN_FORCE.get(objectAt(terms.limit, `${path}.limit`).tif)
    if (tif === undefined) throw new MalformedEnvelope(`${path}.limit.tif must be Gtc, Ioc, Alo or FrontendMarket.`)
    return { kind: 'limit', tif }
  }
  const trigger = objectAt(terms.trigger, `${path}.trigger`)
  booleanAt(trigger.isMarket, `${path}.trigger.isMarket`)
  const { tpsl } = trigger
  if (tpsl !== 'tp' && tpsl !== 'sl') throw new MalformedEnvelope(`${path}.trigger.tpsl must be tp or sl.`)
  return { kind: 'trigger', triggerPx: decimalAt(trigger.triggerPx, `${path}.trigger.triggerPx`), tpsl }
}
