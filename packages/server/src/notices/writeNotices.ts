import type { Changes } from '../journal/accountLog.ts'
import { saveNotice, takeNoticeIds, withdrawNotice, type NoticeKey, type Notice } from '../store/noticeStore.ts'
import type { Sql } from '../store/sql.ts'
import type { OrderChange, OrderState } from '../trading/orders/orderModel.ts'
import { NEWS_MAX_AGE_MS, SERIOUS_MS, type NoticeStep } from './notice.ts'
import { orderNoticeContent, orderNoticeLifeMs, orderNoticeType, type OrderNoticeType } from './orderNotice.ts'
import { updateNoticeSteps } from './updateNotice.ts'

/**
 * Writes the notices about a transaction's changes in the same transaction, so that each kept change is reported
 * exactly once.
 */
export async function writeNotices(sql: Sql, changes: Pick<Changes, 'orders' | 'positions' | 'cause'>): Promise<void> {
  const steps = [...noticeStepsOf(changes), ...(await updateNoticeSteps(sql, changes))]
  if (steps.length === 0) return
  const ids = await takeNoticeIds(sql, steps.length)
  let told = 0
  // The order matters: one commit may write a notice and withdraw it again.
  for (const step of steps) {
    if ('tell' in step) await saveNotice(sql, ids[told++]!, step.tell)
    else await withdrawNotice(sql, step.withdraw)
  }
}

/**
 * Returns the notices about the orders of a commit, in the order of its changes. While the service catches up, nearly
 * all commits give none and cost nothing.
 */
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

/**
 * Returns false for an event older than the longest lifetime of a notice: its notice was never written or is no longer
 * shown.
 */
function wasTold(before: OrderState, nowMs: number): boolean {
  return nowMs - happenedAtMs(before) <= SERIOUS_MS
}

function isNews(after: OrderState, nowMs: number): boolean {
  return nowMs - happenedAtMs(after) <= NEWS_MAX_AGE_MS
}

/** Returns when the fill happened; for an order without a fill, the time of its last change. */
function happenedAtMs({ fill, updatedAtMs }: OrderState): number {
  return fill?.timestamp ?? updatedAtMs
}

/**
 * Returns true when the same notice has other numbers: after a reorganisation within one commit, or with one more leg.
 */
function saysMore(type: OrderNoticeType, { record, before, after }: OrderChange): boolean {
  return orderNoticeContent(type, record, before!).message !== orderNoticeContent(type, record, after!).message
}

function noticeOf(change: OrderChange, type: OrderNoticeType, after: OrderState, nowMs: number): Notice {
  const { record } = change
  // A timeout has no block of its own, so it happens now. A fill may be ahead of the local clock, so its time is
  // capped.
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
