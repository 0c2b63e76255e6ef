import type { Address, ChainSlug } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'
import { loadDelegations, saveDelegation } from '../store/agentStore.ts'
import { writeAudit } from '../store/auditStore.ts'
import type { Store, Sql } from '../store/sql.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Delegates } from '../agents/delegates.ts'
import { endNotice, saveNotice, takeNoticeIds, type NoticeKey, type Notice } from '../store/noticeStore.ts'
import { ABOUT_NO_ORDER, NEWS_MS } from './notice.ts'
import { zeroAddress } from 'viem'

/**
 * Notifies the traders of one chain whose agent is no longer their delegate. The chain emits no event about it, so
 * delegates are polled.
 */
export interface DelegationWatch {
  /** Reads the delegates that are due, and writes the notices for everything that was found since the last call. */
  settle(): Promise<void>
  close(): void
}

type Agents = Pick<ChainAgents, 'chain' | 'registry' | 'delegates' | 'relayer'>

/** The agent that was last seen as a trader's delegate, by trader. */
type Seen = Map<Address, Address>

/** The number of traders handled in one transaction. The rest follows in the next round. */
const MAX_PER_ROUND = 500

export function createDelegationWatch(of: {
  readonly agents: Agents
  readonly store: Store
  readonly now: () => number
}): DelegationWatch {
  const { agents, store, now } = of
  const { slug } = agents.chain
  const lookAgain = createLookAgain(agents.delegates, now)
  const { touched, close } = watchTouched(agents)
  /** Loaded from the store, so that a change that happened while the service was down is noticed afterwards. */
  let seen: Seen | undefined

  async function keep(judged: readonly JudgedDelegation[], known: Seen): Promise<void> {
    if (judged.length === 0) return
    await store.transaction({ name: 'notices' }, async (sql) => {
      for (const judgement of judged) await tellDelegation(sql, slug, judgement, now())
    })
    for (const { trader, judgement } of judged) {
      if (judgement.seen === undefined) known.delete(trader)
      else known.set(trader, judgement.seen)
    }
  }

  return {
    async settle() {
      seen ??= await loadDelegations(store.read, slug)
      // The delegates may have been read by other code before the listeners of this watch were added.
      for (const trader of await lookAgain(seen.keys())) touched.add(trader)
      const due = new Set([...touched].slice(0, MAX_PER_ROUND))
      for (const trader of due) touched.delete(trader)
      try {
        await keep(await judge(agents, due, seen), seen)
      } catch (error) {
        for (const trader of due) touched.add(trader)
        throw error
      }
    },
    close,
  }
}

/** Collects the traders whose delegate or whose agents changed. */
function watchTouched({ chain, registry, delegates }: Agents): { touched: Set<Address>; close: () => void } {
  const touched = new Set<Address>()
  const ends = [
    delegates.onDelegate((trader) => touched.add(trader)),
    registry.onAgentChange(({ chain: slug, trader }) => {
      if (slug === chain.slug) touched.add(trader)
    }),
  ]
  return { touched, close: () => ends.forEach((end) => end()) }
}

/** The delegate of a trader who has none. */
const NOBODY = zeroAddress as Address

/** Returns a judgement for each of these traders whose remembered agent changes by the last look. */
async function judge(agents: Agents, traders: Iterable<Address>, seen: Seen): Promise<JudgedDelegation[]> {
  const { delegates, registry } = agents
  const judged: JudgedDelegation[] = []
  for (const trader of traders) {
    const delegate = delegates.known(trader)
    const before = seen.get(trader)
    if (delegate === undefined || (before === undefined && delegate === NOBODY)) continue
    const records = new Map([[delegate, await agentSending(agents, trader, delegate)]])
    if (before !== undefined) records.set(before, await agentSending(agents, trader, before))
    const agentOf = (sender: Address): AgentRecord | undefined => records.get(sender)
    const judgement = judgeDelegation({ before, delegate, agentOf })
    const gained = judgement.gained === undefined ? undefined : agentOf(judgement.gained)
    if (gained !== undefined) await registry.noteStanding(gained, 'delegated')
    if (judgement.seen !== before) judged.push({ trader, delegate, judgement })
  }
  return judged
}

/**
 * Returns the agent of this trader that acts through the address `sender`: the agent itself, or one for which the
 * relayer sends.
 */
async function agentSending(
  { chain, registry, relayer }: Agents,
  trader: Address,
  sender: Address,
): Promise<AgentRecord | undefined> {
  if (sender === relayer) {
    const records = await registry.agentsOf(chain.slug, trader)
    return records.find(({ mode, revoked }) => mode === 'relayed' && !revoked)
  }
  const record = await registry.findAgent(chain.slug, sender)
  return record?.trader === trader ? record : undefined
}

/** The consequences of a look at a trader's delegate. */
export interface DelegationJudgement {
  /** The agent to remember as the trader's delegate; `undefined` when the delegate is no agent of this deployment. */
  readonly seen: Address | undefined
  /** The agent that lost its delegation although its trader did not revoke it here. */
  readonly lost: Address | undefined
  /** The agent that is the delegate now and was not the remembered one before. */
  readonly gained: Address | undefined
}

/**
 * Compares the remembered agent, `before`, with the delegate found on the chain. `agentOf` returns the trader's agent
 * that acts through an address.
 */
export function judgeDelegation(of: {
  readonly before: Address | undefined
  readonly delegate: Address
  readonly agentOf: (agent: Address) => AgentRecord | undefined
}): DelegationJudgement {
  const { before, delegate, agentOf } = of
  const seen = isTrusted(agentOf(delegate)) ? delegate : undefined
  // A trader who revoked the agent here expects it to lose its delegation on the chain.
  const isLost = before !== undefined && before !== delegate && isTrusted(agentOf(before))
  return { seen, lost: isLost ? before : undefined, gained: seen === before ? undefined : seen }
}

function isTrusted(record: AgentRecord | undefined): boolean {
  return record !== undefined && !record.revoked
}

/** The greatest age of the look at a delegation that no request uses. */
const LOOK_AGAIN_MS = 30_000

/** The number of traders read per round: one batch of calls to the node. */
const LOOKS_PER_ROUND = 100

/** Reads the delegates of the traders whose last look is too old, one batch per call. Returns the traders it read. */
type LookAgain = (traders: Iterable<Address>) => Promise<readonly Address[]>

export function createLookAgain(delegates: Pick<Delegates, 'refresh'>, now: () => number): LookAgain {
  /** The time of the last look at each trader, oldest first. */
  const lookedAtMs = new Map<Address, number>()

  /** Returns traders without a look first, then those with the oldest look, so that every trader is read eventually. */
  function dueOf(traders: ReadonlySet<Address>, nowMs: number): Address[] {
    const due: Address[] = []
    for (const trader of traders) if (!lookedAtMs.has(trader)) due.push(trader)
    for (const [trader, atMs] of lookedAtMs) {
      if (!traders.has(trader)) lookedAtMs.delete(trader)
      else if (nowMs - atMs >= LOOK_AGAIN_MS) due.push(trader)
    }
    return due.slice(0, LOOKS_PER_ROUND)
  }

  return async (traders) => {
    const nowMs = now()
    const due = dueOf(new Set(traders), nowMs)
    if (due.length === 0) return due
    for (const trader of due) {
      lookedAtMs.delete(trader)
      lookedAtMs.set(trader, nowMs)
    }
    try {
      await delegates.refresh(due)
    } catch (error) {
      // The readiness check of the chain reports an unavailable node.
      if (!(error instanceof NodeUnavailableError)) throw error
    }
    return due
  }
}

/** A judgement that changes what is remembered of a trader. */
interface JudgedDelegation {
  readonly trader: Address
  readonly delegate: Address
  readonly judgement: DelegationJudgement
}

/**
 * Stores the judgement, writes a notice about a lost delegation, and ends the notices about an agent that is the
 * delegate again.
 */
async function tellDelegation(
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
    await saveNotice(sql, (await takeNoticeIds(sql, 1))[0]!, notice)
  }
  await auditDelegation(sql, chain, { trader, delegate, judgement }, nowMs)
  await saveDelegation(sql, { chain, trader, agent: seen })
}

/** Tells the audit log which agent was found to be the delegate, or not to be it any more. */
async function auditDelegation(
  sql: Sql,
  chain: ChainSlug,
  { trader, delegate, judgement }: JudgedDelegation,
  atMs: number,
): Promise<void> {
  const { lost, gained } = judgement
  const entry = { chain, atMs, trader, detail: { delegate } }
  if (lost !== undefined) await writeAudit(sql, { ...entry, kind: 'delegation_lost', agent: lost })
  if (gained !== undefined) await writeAudit(sql, { ...entry, kind: 'delegation_seen', agent: gained })
}

/** A delegation that was lost: the chain no longer lets `agent` trade for `trader`. */
interface LostDelegation {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly agent: Address
  /** The new delegate; the zero address when there is none. */
  readonly delegate: Address
  /** True when the new delegate is an agent of this deployment too. */
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

/** Returns the keys of the notices that end when the agent is the delegate again. */
export function delegationNoticeKeys(chain: ChainSlug, trader: Address, agent: Address): readonly NoticeKey[] {
  return TYPES.map((type) => ({ chain, type, subject: subjectOf(trader, agent) }))
}

function subjectOf(trader: Address, agent: Address): string {
  return `${trader} ${agent}`
}
