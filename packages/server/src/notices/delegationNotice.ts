import type { NoticeKey, Notice } from '../store/noticeRecord.ts'
import type { Address, ChainSlug } from '@bezel/protocol'
import { ABOUT_NO_ORDER, NEWS_MS } from './notice.ts'

/** A trader's chain no longer lets this agent trade for it. */
export interface LostDelegation {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly agent: Address
  /** Who may now; the zero address when nobody. */
  readonly delegate: Address
  /** The new one is an agent of this deployment too. */
  readonly isToOwnAgent: boolean
}

const TYPES = ['delegation_removed', 'delegation_replaced'] as const

export function delegationNotice(lost: LostDelegation, nowMs: number): Notice {
  const { chain, trader, agent, delegate, isToOwnAgent } = lost
  const isRemoved = BigInt(delegate) === 0n
  const type = isRemoved ? 'delegation_removed' : 'delegation_replaced'
  const how = isRemoved
    ? `The agent ${agent} is no longer the trading delegate of this wallet on ${chain}: there is none now.`
    : `The trading delegate of this wallet on ${chain} is now ${delegate}, in place of the agent ${agent}.`
  const remedy = `If this was not you, check the wallet; to let the agent trade again, send setTradingDelegate(${agent}).`
  return {
    trader,
    key: { chain, type, subject: subjectOf(trader, agent) },
    content: {
      severity: isToOwnAgent ? 'info' : 'warning',
      title: isRemoved ? 'Delegation removed' : 'Delegation replaced',
      message: `${how} ${remedy}`,
      ...ABOUT_NO_ORDER,
      link: `/v1/${chain}/agents/${agent}`,
    },
    createdAtMs: nowMs,
    expiresAtMs: nowMs + NEWS_MS,
  }
}

/** What ends when the agent is the delegate again. */
export function delegationNoticeKeys(chain: ChainSlug, trader: Address, agent: Address): readonly NoticeKey[] {
  return TYPES.map((type) => ({ chain, type, subject: subjectOf(trader, agent) }))
}

function subjectOf(trader: Address, agent: Address): string {
  return `${trader} ${agent}`
}
