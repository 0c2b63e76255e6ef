import { DAY_MS, type Address, type ChainSlug } from '@bezel/protocol'
import { writeAudit, type AuditOrigin } from '../store/auditStore.ts'
import type { ClaimSource } from '../store/claimStore.ts'
import { endNotice, saveNotice, takeNoticeIds, type Notice, type NoticeKey } from '../store/noticeStore.ts'
import type { Sql } from '../store/sql.ts'
import { isProven, type AgentRecord } from '../trading/agentRecord.ts'
import { isKnownTrader } from './knownTrader.ts'

// Every change of rights is told in the transaction that makes it: an entry of the audit log and, for an agent or a key
// that is new, a notice. A claim of a trader for whom nothing on the chain speaks is told when it is proven, so that
// strangers can't fill the log.

/** The request behind a change of rights, and its time. */
export interface RightsCause extends AuditOrigin {
  readonly nowMs: number
}

/** An API key, as far as the log tells of it. */
interface KeyRights {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly label: string
}

/** Lifetime of the notice about a new agent or key. */
const NOTICE_MS = 7 * DAY_MS

/** The longest list of markets in an entry. Of a longer one only the length is told. */
const MAX_TOLD_MARKETS = 8

/** A registration of an agent, and what it replaces. */
interface RegisteredAgent {
  readonly stored: AgentRecord | undefined
  readonly next: AgentRecord
  /** The claim of the stored record, if it was one. */
  readonly claim?: Pick<ClaimSource, 'untold'> | undefined
}

/**
 * Tells of an agent that was registered or changed. Returns false for a claim that is told when it is proven.
 */
export async function tellAgentRegistered(
  sql: Sql,
  { stored, next, claim }: RegisteredAgent,
  cause: RightsCause,
): Promise<boolean> {
  const isMoved = stored !== undefined && stored.trader !== next.trader
  if (isMoved) {
    if (claim !== undefined) await forgetAgentClaim(sql, stored)
    else await tell(sql, 'agent_moved_away', stored, cause)
  }
  if (!(await isToldAtOnce(sql, next))) return false
  // An agent that was revoked and is authorised again is as new to its trader as any other.
  const isNew = stored === undefined || isMoved || stored.revoked || claim?.untold !== undefined
  if (isNew) await tellAgentAdded(sql, next, cause)
  else await tell(sql, 'agent_changed', next, cause, rightsOf(next))
  return true
}

/** Tells that an agent was revoked, or replaced by another of its name. */
export async function tellAgentEnded(
  sql: Sql,
  kind: 'agent_revoked' | 'agent_replaced',
  record: AgentRecord,
  cause: RightsCause,
): Promise<void> {
  if (await isToldAtOnce(sql, record)) await tell(sql, kind, record, cause)
}

/** Tells of a new agent, by the log and by a notice. */
export async function tellAgentAdded(sql: Sql, record: AgentRecord, cause: RightsCause): Promise<void> {
  await tell(sql, 'agent_added', record, cause, rightsOf(record))
  await tellNotice(sql, agentNotice(record, cause.nowMs))
}

/** Ends the notice about an agent that never was in force. */
export async function forgetAgentClaim(sql: Sql, record: AgentRecord): Promise<void> {
  await endNotice(sql, agentNoticeKey(record))
}

/** Tells of a new API key. `isReplacing` is true when the trader had one of the same label. */
export async function tellKeyIssued(
  sql: Sql,
  { key, isReplacing }: { readonly key: KeyRights; readonly isReplacing: boolean },
  { nowMs: atMs, ...origin }: RightsCause,
): Promise<void> {
  const { chain, trader, label } = key
  const kind = isReplacing ? 'key_replaced' : 'key_issued'
  await writeAudit(sql, { ...origin, chain, atMs, kind, trader, keyLabel: label })
  await tellNotice(sql, keyNotice(key, atMs))
}

/** Tells that a key that was in force was ended. */
export async function tellKeyEnded(sql: Sql, key: KeyRights, { nowMs: atMs, ...origin }: RightsCause): Promise<void> {
  const { chain, trader, label } = key
  await writeAudit(sql, { ...origin, chain, atMs, kind: 'key_ended', trader, keyLabel: label })
  await endNotice(sql, keyNoticeKey(key))
}

/** True when the agent is proven, or its trader is known: then the trader has something to lose. */
async function isToldAtOnce(sql: Sql, record: AgentRecord): Promise<boolean> {
  return isProven(record) || (await isKnownTrader(sql, record.chain, record.trader))
}

async function tell(
  sql: Sql,
  kind: 'agent_added' | 'agent_changed' | 'agent_moved_away' | 'agent_revoked' | 'agent_replaced',
  { chain, trader, agent, name }: AgentRecord,
  { nowMs: atMs, ...origin }: RightsCause,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await writeAudit(sql, { ...origin, chain, atMs, kind, trader, agent, detail: { name, ...detail } })
}

/** Returns an agent's rights, with its markets only counted where they are many. */
function rightsOf({ mode, scope: { markets, ...scope } }: AgentRecord): Readonly<Record<string, unknown>> {
  const told = markets === 'all' || markets.length <= MAX_TOLD_MARKETS ? markets : markets.length
  return { mode, scope: { markets: told, ...scope } }
}

/** Writes a notice as a new one, also when an older one of the same topic was dismissed. */
async function tellNotice(sql: Sql, notice: Notice): Promise<void> {
  await endNotice(sql, notice.key)
  await saveNotice(sql, (await takeNoticeIds(sql, 1))[0]!, notice)
}

/**
 * Returns the notice about a new agent. Its name is left out, because anybody may read notices, and the address of a
 * claim too, because somebody else could claim it.
 */
function agentNotice(record: AgentRecord, nowMs: number): Notice {
  const { chain, trader, agent } = record
  const [which, where, link] = isProven(record)
    ? [`The agent ${agent}`, '', `/v1/${chain}/agents/${agent}`]
    : ['An agent', ': the audit log has its address', `/v1/${chain}/account/${trader}/audit`]
  const message = `${which} was authorised for this wallet on ${chain}. If this was not you, revoke it, and end its delegation on the chain${where}.`
  return {
    trader,
    key: agentNoticeKey(record),
    content: { severity: 'info', title: 'New agent', message, ...ABOUT_NOTHING, link },
    createdAtMs: nowMs,
    expiresAtMs: nowMs + NOTICE_MS,
  }
}

/** Returns the notice about a new API key, without its label. */
function keyNotice(key: KeyRights, nowMs: number): Notice {
  const { chain, trader } = key
  const message = `An API key that reads this account was issued on ${chain}. If this was not you, end it: the list of keys has its label.`
  return {
    trader,
    key: keyNoticeKey(key),
    content: { severity: 'info', title: 'New API key', message, ...ABOUT_NOTHING, link: `/v1/${chain}/api-keys` },
    createdAtMs: nowMs,
    expiresAtMs: nowMs + NOTICE_MS,
  }
}

const ABOUT_NOTHING = { market: null, orderId: null, positionId: null } as const

function agentNoticeKey({ chain, trader, agent }: Pick<AgentRecord, 'chain' | 'trader' | 'agent'>): NoticeKey {
  return { chain, type: 'agent_added', subject: `${trader} ${agent}` }
}

function keyNoticeKey({ chain, trader, label }: Pick<KeyRights, 'chain' | 'trader' | 'label'>): NoticeKey {
  return { chain, type: 'key_issued', subject: `${trader} ${label}` }
}
