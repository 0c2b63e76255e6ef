import type { Address, ChainSlug } from '@bezel/protocol'
import { saveDelegation } from '../store/delegationStore.ts'
import { endNotice, saveNotice, takeNoticeIds } from '../store/noticeStore.ts'
import type { Sql } from '../store/sql.ts'
import { delegationNotice, delegationNoticeKeys } from './delegationNotice.ts'
import type { DelegationJudgement } from './judgeDelegation.ts'

/** A look that changed what is known of a trader. */
export interface JudgedDelegation {
  readonly trader: Address
  readonly delegate: Address
  readonly judgement: DelegationJudgement
}

/** Keeps it, tells what was lost, and ends what was told of an agent that is back. */
export async function tellDelegation(
  sql: Sql,
  chain: ChainSlug,
  { trader, delegate, judgement }: JudgedDelegation,
  nowMs: number,
): Promise<void> {
  const { seen, lost, gained } = judgement
  if (gained !== undefined) {
    for (const key of delegationNoticeKeys(chain, trader, gained)) await endNotice(sql, key)
  }
  if (lost !== undefined) {
    const isToOwnAgent = seen !== undefined
    const notice = delegationNotice({ chain, trader, agent: lost, delegate, isToOwnAgent }, nowMs)
    await saveNotice(sql, await takeNoticeIds(sql, 1), notice)
  }
  await saveDelegation(sql, { chain, trader, agent: seen })
}
