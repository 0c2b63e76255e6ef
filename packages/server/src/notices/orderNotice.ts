import type { NoticeContent } from '../store/noticeStore.ts'
import {
  roundDecimal,
  type NotificationSeverity,
  type NotificationType,
  type OrderReason,
  type Side,
} from '@bezel/protocol'
import type { OrderRecord, OrderState, OrderRequest } from '../trading/orders/orderModel.ts'
import { NEWS_MS, SERIOUS_MS } from './notice.ts'

/** The reason of a refusal in words, to follow "was rejected: ". `slippage` is in percent. */
const WORDS: Readonly<Record<OrderReason, (slippage: string) => string>> = {
  NONE: () => 'the contracts gave no reason',
  PAUSED: () => 'trading was paused',
  MARKET_CLOSED: () => 'the market was closed',
  SLIPPAGE: (slippage) => `the price moved by more than the ${slippage} % of slippage it allowed`,
  TP_REACHED: () => 'the price had already reached its take profit',
  SL_REACHED: () => 'the price had already reached its stop loss',
  EXPOSURE_LIMITS: () => 'it would have exceeded the open interest allowed in this market',
  PRICE_IMPACT: () => 'it would have moved the price too far',
  MAX_LEVERAGE: () => 'its leverage is above the maximum of the market',
  NO_TRADE: () => 'the position it was for is no longer open',
  WRONG_TRADE: () => 'it does not fit the position it was for',
  NOT_HIT: () => 'its trigger price was not reached',
  LIQ_REACHED: () => 'the price had already reached its liquidation price',
  OTHER: () => 'its transaction failed, or the contracts refused it for a reason they do not name',
}

type Kind = OrderRequest['kind']

const TO_DO: Readonly<Record<Kind, (side: Side, size: string) => string>> = {
  open: (side, size) => `open a ${side} of ${size}`,
  close: (side, size) => `close a ${side} of ${size}`,
  increase: (side, size) => `increase a ${side} by ${size}`,
}

const DONE: Readonly<Record<Kind, (side: Side, size: string) => string>> = {
  open: (side, size) => `Opened a ${side} of ${size}`,
  close: (side, size) => `Closed a ${side} of ${size}`,
  increase: (side, size) => `Increased a ${side} by ${size}`,
}

/** Types of notices about orders. */
export type OrderNoticeType = Extract<
  NotificationType,
  'order_filled' | 'order_rejected' | 'order_timed_out' | 'position_liquidated' | 'stop_loss_hit' | 'take_profit_hit'
>

/**
 * Notice types of closes that no trader ordered. When a keeper closes a position, the close has an order of its own,
 * and the prefix of its origin key says why.
 */
const BY_ORIGIN: Readonly<Record<string, OrderNoticeType>> = {
  liq: 'position_liquidated',
  sl: 'stop_loss_hit',
  tp: 'take_profit_hit',
}

/**
 * Returns the type of the notice for an order in this state; `undefined` for an order that is not over, or that its
 * trader ended.
 */
export function orderNoticeType(
  { originKey }: Pick<OrderRecord, 'originKey'>,
  state: Pick<OrderState, 'status'> | undefined,
): OrderNoticeType | undefined {
  switch (state?.status) {
    case 'filled':
      return BY_ORIGIN[originKey?.split(':', 1)[0] ?? ''] ?? 'order_filled'
    case 'rejected':
      return 'order_rejected'
    case 'timed_out':
      return 'order_timed_out'
    default:
      return undefined
  }
}

interface Telling {
  readonly severity: NotificationSeverity
  readonly title: string
  readonly message: string
}

const TELLINGS: Readonly<Record<OrderNoticeType, (record: OrderRecord, state: OrderState) => Telling>> = {
  order_filled(record, state) {
    const done = `${fillInWords(record, fillOf(state))}.`
    if (state.reason === null) return { severity: 'info', title: 'Order filled', message: done }
    const refusal = `A part of the order was refused: ${reasonInWords(state.reason, state.slippage)}.`
    return { severity: 'warning', title: 'Order filled in part', message: `${done} ${refusal}` }
  },
  order_rejected(record, state) {
    const why = reasonInWords(state.reason, state.slippage)
    const message = `The ${orderInWords(record, state)} was rejected: ${why}. Nothing was traded.`
    return { severity: 'warning', title: 'Order rejected', message }
  },
  order_timed_out(record, state) {
    const late = `The oracles did not answer the ${orderInWords(record, state)} in time.`
    const effect =
      record.request.kind === 'close' ? 'The position stays open.' : 'Its collateral is locked until you reclaim it.'
    const remedy = `To reclaim it, call DELETE ${orderPath(record)} and send the transaction it prepares.`
    return { severity: 'warning', title: 'Order timed out', message: `${late} ${effect} ${remedy}` }
  },
  position_liquidated(record, state) {
    return { severity: 'critical', title: 'Position liquidated', message: closedInWords(record, state, 'liquidated') }
  },
  stop_loss_hit(record, state) {
    const message = closedInWords(record, state, 'closed by its stop loss')
    return { severity: 'warning', title: 'Stop loss hit', message }
  },
  take_profit_hit(record, state) {
    const message = closedInWords(record, state, 'closed by its take profit')
    return { severity: 'info', title: 'Take profit hit', message }
  },
}

export function orderNoticeContent(type: OrderNoticeType, record: OrderRecord, state: OrderState): NoticeContent {
  return {
    ...TELLINGS[type](record, state),
    market: record.request.market,
    orderId: record.id,
    positionId: state.fill?.positionId ?? record.request.legs[0]?.positionId ?? null,
    link: orderPath(record),
  }
}

/** Returns the lifetime of a notice. Notices about money that is lost or locked live longer. */
export function orderNoticeLifeMs(type: OrderNoticeType): number {
  return type === 'position_liquidated' || type === 'order_timed_out' ? SERIOUS_MS : NEWS_MS
}

/** Returns, for example, "The long of 0.1 BTC/USD on base was liquidated at 54000." */
function closedInWords(record: OrderRecord, state: OrderState, how: string): string {
  const { size, price } = fillOf(state)
  const position = `${positionSideOf(record)} of ${sizeText(size)} ${record.request.market}`
  return `The ${position} on ${record.chain} was ${how} at ${priceText(price)}.`
}

function fillOf({ fill }: OrderState): NonNullable<OrderState['fill']> {
  if (fill === null) throw new Error('a filled order has no fill')
  return fill
}

function orderPath({ chain, id }: OrderRecord): string {
  return `/v1/${chain}/orders/${id}`
}

/** Describes the request of an order: "market order to open a long of 0.1 BTC/USD on base". */
function orderInWords(record: OrderRecord, { size }: Pick<OrderState, 'size'>): string {
  const { kind, type, market } = record.request
  return `${type} order to ${TO_DO[kind](positionSideOf(record), sizeText(size))} ${market} on ${record.chain}`
}

/** Describes a fill: "Opened a long of 0.1 BTC/USD at 60000 on base". */
function fillInWords(record: OrderRecord, fill: { readonly size: string; readonly price: string }): string {
  const { kind, market } = record.request
  const done = DONE[kind](positionSideOf(record), sizeText(fill.size))
  return `${done} ${market} at ${priceText(fill.price)} on ${record.chain}`
}

/** Rounds a size for people to 8 places, half away from zero, or 6 significant digits. The order has it exactly. */
function sizeText(size: string): string {
  return roundDecimal(size, 8, 6)
}

/** Rounds a price for people to 6 places, half away from zero, or 6 significant digits. The fill has it exactly. */
function priceText(price: string): string {
  return roundDecimal(price, 6, 6)
}

/** Returns the side of the position. The side of a closing order is the opposite one. */
function positionSideOf({ request }: OrderRecord): Side {
  if (request.kind !== 'close') return request.side
  return request.side === 'long' ? 'short' : 'long'
}

/** `slippage` is in percent. */
export function reasonInWords(reason: OrderReason | null, slippage: string): string {
  return WORDS[reason ?? 'NONE'](slippage)
}
