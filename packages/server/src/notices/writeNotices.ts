import type { Changes } from '../journal/accountLog.ts'
import { saveNotice, takeNoticeIds, withdrawNotice } from '../store/noticeStore.ts'
import type { Sql } from '../store/sql.ts'
import { noticeStepsOf } from './noticeStepsOf.ts'

/** Tells traders what a transaction changed, in that transaction: what is not kept is not told, and what is kept is told once. */
export async function writeNotices(sql: Sql, changes: Pick<Changes, 'orders' | 'cause'>): Promise<void> {
  const steps = noticeStepsOf(changes)
  if (steps.length === 0) return
  let id = await takeNoticeIds(sql, steps.length)
  // In order: one commit may tell a thing and take it back.
  for (const step of steps) {
    if ('tell' in step) await saveNotice(sql, id++, step.tell)
    else await withdrawNotice(sql, step.withdraw)
  }
}
