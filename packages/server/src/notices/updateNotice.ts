import type { MarketSymbol, NotificationType, OrderReason } from '@bezel/protocol'
import type { Changes } from '../journal/accountLog.ts'
import type { NoticeContent, NoticeKey } from '../store/noticeStore.ts'
import { findOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import { leverageDecimal } from '../trading/market/amounts.ts'
import type { WaitingUpdate, PositionChange, PositionState, UpdateRefusal } from '../trading/positions/positionModel.ts'
import { NEWS_MAX_AGE_MS, NEWS_MS, SERIOUS_MS, type NoticeStep } from './notice.ts'
import { reasonInWords } from './orderNotice.ts'

// Notices about changes of positions that wait for the oracle. A size increase has those of its order.

type UpdateNoticeType = Extract<NotificationType, 'position_update_refused' | 'position_update_timed_out'>

/** The part of a change that its notice tells. */
type ToldUpdate = Pick<WaitingUpdate, 'kind' | 'pendingIndex' | 'leverage'>

/** Returns the notices about the pending changes of positions in a commit. Nearly all commits have none. */
export async function updateNoticeSteps(
  sql: Sql,
  { positions, cause: { nowMs } }: Pick<Changes, 'positions' | 'cause'>,
): Promise<readonly NoticeStep[]> {
  const steps: NoticeStep[] = []
  for (const change of positions) {
    const { before, after } = change
    const [wasOut, isOut] = [timedOutOf(before), timedOutOf(after)]
    if (wasOut !== undefined && wasOut.pendingIndex !== isOut?.pendingIndex) {
      steps.push({ withdraw: keyOf(change, 'position_update_timed_out', wasOut) })
    }
    if (isOut !== undefined && wasOut?.pendingIndex !== isOut.pendingIndex && isNews(isOut.createdAtMs, nowMs)) {
      steps.push(await toldTimeout(sql, change, isOut, nowMs))
    }
    const [wasRefused, isRefused] = [refusalOf(before), refusalOf(after)]
    // Indices only grow, so a lower one than before, or none, means that a block was undone.
    if (wasRefused !== undefined && wasRefused.pendingIndex > (isRefused?.pendingIndex ?? -1)) {
      steps.push({ withdraw: keyOf(change, 'position_update_refused', wasRefused) })
    }
    if (
      isRefused !== undefined &&
      isRefused.pendingIndex > (wasRefused?.pendingIndex ?? -1) &&
      isNews(isRefused.atMs, nowMs)
    ) {
      steps.push(await toldRefusal(sql, change, isRefused, nowMs))
    }
  }
  return steps
}

function timedOutOf(state: PositionState | undefined): WaitingUpdate | undefined {
  const update = state?.pendingUpdate
  return update?.status === 'timed_out' && update.kind !== 'increase' ? update : undefined
}

function refusalOf(state: PositionState | undefined): UpdateRefusal | undefined {
  const refusal = state?.updateRefusal
  return refusal && refusal.kind !== 'increase' ? refusal : undefined
}

function isNews(atMs: number, nowMs: number): boolean {
  return nowMs - atMs <= NEWS_MAX_AGE_MS
}

function keyOf({ record }: PositionChange, type: UpdateNoticeType, { pendingIndex }: ToldUpdate): NoticeKey {
  return { chain: record.chain, type, subject: `${record.id} ${pendingIndex}` }
}

async function toldTimeout(
  sql: Sql,
  change: PositionChange,
  update: WaitingUpdate,
  nowMs: number,
): Promise<NoticeStep> {
  const { chain, id } = change.record
  const told = await updateInWords(sql, change, update)
  const locked = update.collateralDelta > 0n ? 'The collateral it took from the wallet is locked, and no' : 'No'
  const remedy = `To reclaim it, call DELETE /v1/${chain}/positions/${id}/pending-update and send the transaction it prepares; a close or another change of the position reclaims it too.`
  const message = `The oracles did not answer ${told.words} in time. ${locked} other change goes through until it is reclaimed. ${remedy}`
  const content = {
    ...contentOf(change, told.market),
    severity: 'warning',
    title: 'Position update timed out',
    message,
  } as const
  return { tell: noticeOf(change, 'position_update_timed_out', update, { content, atMs: nowMs, lifeMs: SERIOUS_MS }) }
}

async function toldRefusal(
  sql: Sql,
  change: PositionChange,
  refusal: UpdateRefusal,
  nowMs: number,
): Promise<NoticeStep> {
  const told = await updateInWords(sql, change, refusal)
  const message = `${capital(told.words)} was refused: ${whyOf(refusal.reason)}. The position stays as it was, less the fee that the contracts charge for a refusal.`
  const content = {
    ...contentOf(change, told.market),
    severity: 'warning',
    title: 'Position update refused',
    message,
  } as const
  const atMs = Math.min(nowMs, refusal.atMs)
  return { tell: noticeOf(change, 'position_update_refused', refusal, { content, atMs, lifeMs: NEWS_MS }) }
}

function noticeOf(
  change: PositionChange,
  type: UpdateNoticeType,
  update: ToldUpdate,
  of: { readonly content: NoticeContent; readonly atMs: number; readonly lifeMs: number },
) {
  const { content, atMs, lifeMs } = of
  const key = keyOf(change, type, update)
  return { trader: change.record.trader, key, content, createdAtMs: atMs, expiresAtMs: atMs + lifeMs }
}

function contentOf(
  { record }: PositionChange,
  market: MarketSymbol | null,
): Omit<NoticeContent, 'severity' | 'title' | 'message'> {
  const { chain, trader, id } = record
  return { market, orderId: null, positionId: id, link: `/v1/${chain}/account/${trader}/positions` }
}

/** Slippage is no reason to refuse a change that only moves collateral. */
function whyOf(reason: OrderReason): string {
  return reasonInWords(reason, '0')
}

/** Describes a change: "the change of a long position in BTC/USD on base to a leverage of 5". */
async function updateInWords(
  sql: Sql,
  { record, before, after }: PositionChange,
  update: ToldUpdate,
): Promise<{ readonly words: string; readonly market: MarketSymbol | null }> {
  const origin = await findOrder(sql, record.originOrderId)
  const market = origin?.record.request.market ?? null
  const side = (after ?? before)?.trade.long === false ? 'short' : 'long'
  const position = `a ${side} position${market === null ? '' : ` in ${market}`} on ${record.chain}`
  return { words: KINDS[update.kind](position, leverageDecimal(update)), market }
}

const KINDS: Readonly<Record<WaitingUpdate['kind'], (position: string, leverage: string) => string>> = {
  leverage: (position, leverage) => `the change of ${position} to a leverage of ${leverage}`,
  collateral: (position, leverage) => `the change of the collateral of ${position}, to a leverage of ${leverage},`,
  increase: (position) => `the increase of ${position}`,
  withdrawal: (position) => `the withdrawal of profit from ${position}`,
  other: (position) => `the realisation of fees or losses of ${position}`,
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
