import { formatDecimal, scaleDecimalTruncated, type Decimal, type OrderId, type OrderStatus } from '@bezel/protocol'
import type { StoredOrder } from '../store/orderStore.ts'
import type { TriggerKind } from '../store/facadeTriggerStore.ts'
import type { OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import { PRICE_DECIMALS, SLIPPAGE_DECIMALS } from '../trading/plan/decimals.ts'
import { szText, type Coin } from './coins.ts'
import type { BookSide } from './fillWords.ts'
import { nearestPxText, pointed } from './priceText.ts'

/** The statuses that every client knows; some fail at any other. */
export type FacadeStatus = 'open' | 'filled' | 'canceled' | 'rejected'

/** An order as clients of the facade read it. */
export interface FacadeOrder {
  readonly coin: string
  readonly side: BookSide
  readonly limitPx: string
  /** What is left of it. */
  readonly sz: string
  readonly oid: number
  readonly timestamp: number
  readonly triggerCondition: string
  readonly isTrigger: boolean
  readonly triggerPx: string
  readonly children: readonly never[]
  readonly isPositionTpsl: boolean
  readonly reduceOnly: boolean
  readonly orderType: 'Limit' | 'Market' | 'Stop Market' | 'Take Profit Market'
  readonly origSz: string
  readonly tif: 'Gtc' | 'Ioc' | null
  readonly cloid: string | null
}

/** With what became of it. */
export interface FacadeOrderStatus {
  readonly order: FacadeOrder
  readonly status: FacadeStatus
  readonly statusTimestamp: number
}

const STATUSES: Readonly<Record<OrderStatus, FacadeStatus>> = {
  prepared: 'open',
  pending: 'open',
  open: 'open',
  filled: 'filled',
  canceled: 'canceled',
  rejected: 'rejected',
  expired: 'canceled',
  // What was asked for is over; its collateral can be reclaimed.
  timed_out: 'canceled',
}

const ZERO = '0.0'
const NO_TRIGGER = { triggerCondition: 'N/A', isTrigger: false, triggerPx: ZERO }
const CLOID_PATTERN = /^0x[0-9a-f]{32}$/

/** Native ids of clients that no client of the facade could have given are not shown. */
export function cloidOf(clientId: string | null): string | null {
  return clientId !== null && CLOID_PATTERN.test(clientId) ? clientId : null
}

/** `oid` is its id natively, except for the execution of a take profit or stop loss, which goes by the id it had while it waited. */
export function facadeOrderStatus(
  record: OrderRecord,
  state: OrderState,
  of: { readonly coin: Coin; readonly oid: OrderId; readonly mark: Decimal },
): FacadeOrderStatus {
  const status = STATUSES[state.status]
  const { coin, oid } = of
  const { request } = record
  const size = pointed(szText(coin, state.size))
  // A market order names no price of its own: what it was filled at, or else would be filled at now.
  const px = nearestPxText(coin, limitOf(request, state) ?? (state.fill?.price as Decimal | undefined) ?? of.mark)
  const side: BookSide = request.side === 'long' ? 'B' : 'A'
  const order: FacadeOrder = {
    coin: coin.name,
    side,
    limitPx: px,
    sz: status === 'filled' ? ZERO : size,
    oid: Number(oid),
    timestamp: record.createdAtMs,
    ...termsOf(request.type, request.reduceOnly, side, px),
    children: [],
    isPositionTpsl: false,
    reduceOnly: request.reduceOnly,
    origSz: size,
    cloid: cloidOf(request.clientId),
  }
  return { order, status, statusTimestamp: state.updatedAtMs }
}

/** Of a market order that was placed with a price: the worst that it takes, as its client wrote it. Natively that is a price and a way from there. */
function limitOf({ type, side }: OrderRecord['request'], { price, slippage }: OrderState): Decimal | null {
  if (type !== 'market' || price === null) return price
  const expected = scaleDecimalTruncated(price, PRICE_DECIMALS)
  const way =
    (expected * scaleDecimalTruncated(slippage, SLIPPAGE_DECIMALS)) / (100n * 10n ** BigInt(SLIPPAGE_DECIMALS))
  return formatDecimal(side === 'long' ? expected + way : expected - way, PRICE_DECIMALS)
}

type Terms = Pick<FacadeOrder, 'triggerCondition' | 'isTrigger' | 'triggerPx' | 'orderType' | 'tif'>

/** A limit that only reduces is a take profit: natively there is no other. */
function termsOf(type: OrderRecord['request']['type'], reduceOnly: boolean, side: BookSide, px: string): Terms {
  if (type === 'market') return { ...NO_TRIGGER, orderType: 'Market', tif: 'Ioc' }
  if (type === 'stop') return triggerTerms('sl', side, px)
  return reduceOnly ? triggerTerms('tp', side, px) : { ...NO_TRIGGER, orderType: 'Limit', tif: 'Gtc' }
}

/** A stop that buys waits for the price to rise, a take profit that buys for it to fall. */
export function triggerTerms(kind: TriggerKind, side: BookSide, px: string): Terms {
  const isAbove = (kind === 'sl') === (side === 'B')
  return {
    triggerCondition: `Price ${isAbove ? 'above' : 'below'} ${px}`,
    isTrigger: true,
    triggerPx: px,
    orderType: kind === 'sl' ? 'Stop Market' : 'Take Profit Market',
    tif: null,
  }
}

/** What everybody may see of a trader's orders: not what an agent only prepared, which might never be sent. */
export function isShown({ record, state }: StoredOrder, isRelayed: (record: OrderRecord) => boolean): boolean {
  if (state === undefined) return false
  return (state.status !== 'prepared' && state.status !== 'expired') || isRelayed(record)
}
