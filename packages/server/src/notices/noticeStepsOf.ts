import type { NoticeKey, Notice } from '../store/noticeRecord.ts'
import type { OrderChange } from '../trading/orders/orderChange.ts'
import type { Changes } from '../journal/accountLog.ts'
import type { OrderState } from '../trading/orders/orderModel.ts'
import { SERIOUS_MS } from './notice.ts'
import { orderNoticeContent, orderNoticeLifeMs, orderNoticeType, type OrderNoticeType } from './orderNotice.ts'

/** What changes for the reader: something is told, or what was told is no longer so. */
export type NoticeStep = { readonly tell: Notice } | { readonly withdraw: NoticeKey }

/** What happened longer ago is history: a service that reads on from old blocks must not bury anybody under it. */
const NEWS_MAX_AGE_MS = 86_400_000

/** What a commit tells its traders, in its order. Nearly all commits of a service that catches up tell nothing, and cost nothing. */
export function noticeStepsOf({ orders, cause }: Pick<Changes, 'orders' | 'cause'>): readonly NoticeStep[] {
  const steps: NoticeStep[] = []
  for (const change of orders) {
    const { record, before, after } = change
    const was = orderNoticeType(record, before)
    const is = orderNoticeType(record, after)
    if (was !== undefined && was !== is && wasTold(before!, cause.nowMs)) {
      steps.push({ withdraw: keyOf(change, was) })
    }
    if (is !== undefined && (was !== is || saysMore(is, change)) && isNews(after!, cause.nowMs)) {
      steps.push({ tell: noticeOf(change, is, after!, cause.nowMs) })
    }
  }
  return steps
}

/** What is older than any notice lives was not told, or is not shown any more. */
function wasTold(before: OrderState, nowMs: number): boolean {
  return nowMs - happenedAtMs(before) <= SERIOUS_MS
}

function isNews(after: OrderState, nowMs: number): boolean {
  return nowMs - happenedAtMs(after) <= NEWS_MAX_AGE_MS
}

/** Of a timed-out one: when the chain last said something of it, which is when it was requested. */
function happenedAtMs({ fill, updatedAtMs }: OrderState): number {
  return fill?.timestamp ?? updatedAtMs
}

/** The same thing, with other numbers: a reorganisation within one commit, or one more leg. */
function saysMore(type: OrderNoticeType, { record, before, after }: OrderChange): boolean {
  return orderNoticeContent(type, record, before!).message !== orderNoticeContent(type, record, after!).message
}

function noticeOf(change: OrderChange, type: OrderNoticeType, after: OrderState, nowMs: number): Notice {
  const { record } = change
  // A timeout has no moment of its own; the chain's clock may be ahead of ours.
  const createdAtMs = type === 'order_timed_out' ? nowMs : Math.min(nowMs, happenedAtMs(after))
  return {
    trader: record.trader,
    key: keyOf(change, type),
    content: orderNoticeContent(type, record, after),
    createdAtMs,
    expiresAtMs: createdAtMs + orderNoticeLifeMs(type),
  }
}

function keyOf({ record }: OrderChange, type: OrderNoticeType): NoticeKey {
  return { chain: record.chain, type, subject: record.id }
}
