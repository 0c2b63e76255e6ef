import type { NoticeContent, Notice } from '../store/noticeRecord.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { ABOUT_NO_ORDER, NEWS_MS } from './notice.ts'

/** So long before its expiry a trader is told. */
export const EXPIRY_WARNING_MS = 86_400_000

export const AGENT_NOTICE_TYPES = ['agent_expiring', 'agent_expired'] as const

/** What is to be told of an agent now; `undefined` for one that is in force for long, was revoked, or expired long ago. */
export function agentNotice(record: AgentRecord, nowMs: number): Notice | undefined {
  const { expiresAt } = record.scope
  if (expiresAt === null || record.revoked) return undefined
  if (nowMs < expiresAt - EXPIRY_WARNING_MS || nowMs >= expiresAt + NEWS_MS) return undefined
  const isExpired = nowMs >= expiresAt
  return {
    trader: record.trader,
    key: {
      chain: record.chain,
      type: isExpired ? 'agent_expired' : 'agent_expiring',
      // A later expiry is something new to tell.
      subject: `${record.trader} ${record.agent} ${expiresAt}`,
    },
    content: isExpired ? expired(record, expiresAt) : expiring(record, expiresAt),
    createdAtMs: isExpired ? expiresAt : nowMs,
    expiresAtMs: isExpired ? expiresAt + NEWS_MS : expiresAt,
  }
}

function expiring(record: AgentRecord, expiresAt: number): NoticeContent {
  const message = `The ${named(record)} expires at ${new Date(expiresAt).toISOString()}. Authorise it again to keep it trading.`
  return { severity: 'warning', title: 'Agent about to expire', message, ...ABOUT_NO_ORDER, link: agentPath(record) }
}

function expired(record: AgentRecord, expiresAt: number): NoticeContent {
  const message = `The ${named(record)} expired at ${new Date(expiresAt).toISOString()}: its requests are refused until it is authorised again.`
  return { severity: 'warning', title: 'Agent expired', message, ...ABOUT_NO_ORDER, link: agentPath(record) }
}

/** The name is left out: whoever reads this need not be its owner. */
function named({ agent, chain }: AgentRecord): string {
  return `agent ${agent} on ${chain}`
}

function agentPath({ agent, chain }: AgentRecord): string {
  return `/v1/${chain}/agents/${agent}`
}
