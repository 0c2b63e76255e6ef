import { Price, Slippage, type Decimal, type FillHistoryEntry, type OrderId, type OrderStatus } from '@bezel/protocol'
import type { StoredOrder } from '../store/orderStore.ts'
import type { TriggerKind } from '../store/facadeTriggerStore.ts'
import type { OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import { szText, type Coin } from './coins.ts'
import { nearestPxText, pointed } from './priceText.ts'

/** A buy (`B`, bid) or a sell (`A`, ask), as clients of the facade write it. */
export type BookSide = 'B' | 'A'

const OPENING: ReadonlySet<string> = new Set(['TradeOpenedMarket', 'TradeOpenedLimit', 'TradePosSizeIncrease'])

type Traded = Pick<FillHistoryEntry, 'action' | 'side'>

/** The statuses that every client knows; some clients fail at any other. */
export type FacadeStatus = 'open' | 'filled' | 'canceled' | 'rejected'

/** An order in the shape that clients of the facade read. */
export interface FacadeOrder {
  readonly coin: string
  readonly side: BookSide
  readonly limitPx: string
  /** The size that is not filled yet. */
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

/** An order with its status. */
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
  // The request is over; its collateral can be reclaimed.
  timed_out: 'canceled',
}

const ZERO = '0.0'

const NO_TRIGGER = { triggerCondition: 'N/A', isTrigger: false, triggerPx: ZERO }

const CLOID_PATTERN = /^0x[0-9a-f]{32}$/

/** Returns the client order id, or `null` for a native one that is not in the facade's format. */
export function cloidOf(clientId: string | null): string | null {
  return clientId !== null && CLOID_PATTERN.test(clientId) ? clientId : null
}

/**
 * Returns an order in the facade's shape. `oid` is the native id, except for an executed take profit or stop loss,
 * which keeps the id it had while it waited.
 */
export function facadeOrderStatus(
  record: OrderRecord,
  state: OrderState,
  of: { readonly coin: Coin; readonly oid: OrderId; readonly mark: Decimal },
): FacadeOrderStatus {
  const status = STATUSES[state.status]
  const { coin, oid } = of
  const { request } = record
  const size = pointed(szText(coin, state.size))
  // A market order may have no price of its own: shown is its fill price, or the mark before it is filled.
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

/**
 * Returns the price of an order. For a market order with a price it is the worst acceptable one, which the client sent;
 * natively it is stored as an expected price and a slippage.
 */
function limitOf({ type, side }: OrderRecord['request'], { price, slippage }: OrderState): Decimal | null {
  if (type !== 'market' || price === null) return price
  const expected = Price.parseTruncated(price)
  const way = (expected * Slippage.parseTruncated(slippage)) / (100n * Slippage.one)
  return Price.format(Price.of(side === 'long' ? expected + way : expected - way))
}

type Terms = Pick<FacadeOrder, 'triggerCondition' | 'isTrigger' | 'triggerPx' | 'orderType' | 'tif'>

/**
 * Returns the terms of an order. A reduce-only limit order is a take profit, because natively there is no other kind.
 */
function termsOf(type: OrderRecord['request']['type'], reduceOnly: boolean, side: BookSide, px: string): Terms {
  if (type === 'market') return { ...NO_TRIGGER, orderType: 'Market', tif: 'Ioc' }
  if (type === 'stop') return triggerTerms('sl', side, px)
  return reduceOnly ? triggerTerms('tp', side, px) : { ...NO_TRIGGER, orderType: 'Limit', tif: 'Gtc' }
}

/**
 * Returns the terms of a trigger. A stop loss that buys waits for the price to rise, a take profit that buys for it to
 * fall.
 */
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

/**
 * True for an order that everybody may see. An order that an agent only prepared is hidden, because it may never be
 * sent; one whose hash was reported is shown.
 */
export function isSent({ state }: Pick<StoredOrder, 'state'>): boolean {
  if (state === undefined) return false
  return (state.status !== 'prepared' && state.status !== 'expired') || state.txHash !== null
}

/** Returns the side of a fill: opening a long buys, closing it sells, and the reverse for a short. */
export function sideOfFill({ action, side }: Traded): BookSide {
  return (side === 'long') === OPENING.has(action) ? 'B' : 'A'
}

/** Returns the direction of a fill as clients show it: `Open Long`, `Close Short`. */
export function directionOfFill({ action, side }: Traded): string {
  return `${OPENING.has(action) ? 'Open' : 'Close'} ${side === 'long' ? 'Long' : 'Short'}`
}
