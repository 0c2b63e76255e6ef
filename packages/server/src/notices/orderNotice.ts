import type { NoticeContent } from '../store/noticeRecord.ts'
import type { NotificationSeverity, NotificationType } from '@bezel/protocol'
import type { OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import { NEWS_MS, SERIOUS_MS } from './notice.ts'
import { fillInWords, orderInWords, positionSideOf } from './orderInWords.ts'
import { reasonInWords } from './reasonWords.ts'

/** What is told of orders. */
export type OrderNoticeType = Extract<
  NotificationType,
  'order_filled' | 'order_rejected' | 'order_timed_out' | 'position_liquidated' | 'stop_loss_hit' | 'take_profit_hit'
>

/** What nobody ordered: keepers close a position, and the close has an order of its own, whose origin says why. */
const BY_ORIGIN: Readonly<Record<string, OrderNoticeType>> = {
  liq: 'position_liquidated',
  sl: 'stop_loss_hit',
  tp: 'take_profit_hit',
}

/** What an order that stands like this is told as; `undefined` for one that is not over, or that its trader ended. */
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

/** Money that is lost or locked is told for longer. */
export function orderNoticeLifeMs(type: OrderNoticeType): number {
  return type === 'position_liquidated' || type === 'order_timed_out' ? SERIOUS_MS : NEWS_MS
}

/** "The long of 0.1 BTC/USD on base was liquidated at 54000." */
function closedInWords(record: OrderRecord, state: OrderState, how: string): string {
  const { size, price } = fillOf(state)
  return `The ${positionSideOf(record)} of ${size} ${record.request.market} on ${record.chain} was ${how} at ${price}.`
}

function fillOf({ fill }: OrderState): NonNullable<OrderState['fill']> {
  if (fill === null) throw new Error('a filled order has no fill')
  return fill
}

function orderPath({ chain, id }: OrderRecord): string {
  return `/v1/${chain}/orders/${id}`
}
