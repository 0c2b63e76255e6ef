import type { ChainAgents } from '../agents/chainAgents.ts'
import type { Store } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { createDelegationWatch } from './delegationWatch.ts'
import {
  type NoticeKey,
  type Notice,
  endNotice,
  listNoticeKeys,
  saveNotice,
  takeNoticeIds,
  EVERYBODY,
  type NoticeContent,
} from '../store/noticeStore.ts'
import { type ChainSlug, type NotificationType, TradingActivated } from '@bezel/protocol'
import { ABOUT_NO_ORDER, NEWS_MS } from './notice.ts'
import { listExpiringAgents } from '../store/agentStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'

const AGENT_NOTICE_TYPES = ['agent_expiring', 'agent_expired'] as const

const PAUSE_NOTICE_TYPES = ['chain_paused', 'chain_close_only'] as const

/** Notices of one chain that no event causes: a pause, agents that expire, delegations that were lost. */
export interface ChainNotices {
  /** Checks the current state, writes new notices and ends those that no longer hold. */
  settle(): Promise<void>
  close(): void
}

export interface ChainNoticesOptions {
  readonly agents: Pick<ChainAgents, 'chain' | 'registry' | 'delegates' | 'relayer'>
  /** Returns the markets; `undefined` until they are read for the first time. */
  readonly markets: () => ChainMarkets | undefined
  readonly store: Store
  readonly now: () => number
}

export function openChainNotices({ agents, markets: readMarkets, store, now }: ChainNoticesOptions): ChainNotices {
  const chain = agents.chain.slug
  const pauses = createStandingNotices({ store, chain, types: PAUSE_NOTICE_TYPES })
  const expiries = createStandingNotices({ store, chain, types: AGENT_NOTICE_TYPES })
  const delegations = createDelegationWatch({ agents, store, now })

  async function settlePause(): Promise<void> {
    const markets = readMarkets()
    // Before the markets are read, the notices of the last run stand.
    if (markets === undefined) return
    const notice = pauseNotice(chain, markets.tradingActivated, now())
    await pauses.settle(notice === undefined ? [] : [notice])
  }

  async function settleExpiries(): Promise<void> {
    const nowMs = now()
    const span = { afterMs: nowMs - NEWS_MS, untilMs: nowMs + EXPIRY_WARNING_MS, limit: MAX_EXPIRIES }
    const told = (await listExpiringAgents(store.read, { chain, ...span })).map((record) => agentNotice(record, nowMs))
    await expiries.settle(told.filter((notice) => notice !== undefined))
  }

  return {
    async settle() {
      await settlePause()
      await settleExpiries()
      await delegations.settle()
    },
    close: delegations.close,
  }
}

/** Notices that hold for as long as a condition lasts. */
interface StandingNotices {
  /**
   * Writes the notices of `now` that are new, and ends those that are no longer among them. Writes nothing when nothing
   * changed.
   */
  settle(now: readonly Notice[]): Promise<void>
}

/**
 * Manages the notices of these types on one chain. Notices written before a restart are loaded from the store and still
 * stand.
 */
function createStandingNotices(of: {
  readonly store: Store
  readonly chain: ChainSlug
  readonly types: readonly NotificationType[]
}): StandingNotices {
  const { store, chain, types } = of
  let told: Map<string, NoticeKey> | undefined
  return {
    async settle(now) {
      told ??= byName(await listNoticeKeys(store.read, chain, types))
      const standing = told
      const wanted = byName(now.map(({ key }) => key))
      const fresh = now.filter(({ key }) => !standing.has(nameOf(key)))
      const over = [...standing].filter(([name]) => !wanted.has(name)).map(([, key]) => key)
      if (fresh.length === 0 && over.length === 0) return
      await store.transaction({ name: 'notices' }, async (sql) => {
        for (const key of over) await endNotice(sql, key)
        const ids = await takeNoticeIds(sql, fresh.length)
        for (const [at, notice] of fresh.entries()) await saveNotice(sql, ids[at]!, notice)
      })
      told = wanted
    },
  }
}

function byName(keys: readonly NoticeKey[]): Map<string, NoticeKey> {
  return new Map(keys.map((key) => [nameOf(key), key]))
}

function nameOf({ type, subject }: NoticeKey): string {
  return `${type} ${subject}`
}

/** Returns the notice for everybody while a chain's Diamond restricts trading; `undefined` while it does not. */
export function pauseNotice(chain: ChainSlug, activated: number, nowMs: number): Notice | undefined {
  if (activated === TradingActivated.ACTIVATED) return undefined
  const isCloseOnly = activated === TradingActivated.CLOSE_ONLY
  return {
    trader: EVERYBODY,
    // A chain has one pause at a time, so the subject needs nothing that tells pauses apart.
    key: { chain, type: isCloseOnly ? 'chain_close_only' : 'chain_paused', subject: EVERYBODY },
    content: {
      ...(isCloseOnly
        ? {
            severity: 'warning',
            title: 'Closing only',
            message: `Positions on ${chain} can only be closed for now: the contracts accept no new trades.`,
          }
        : {
            severity: 'critical',
            title: 'Trading paused',
            message: `Trading on ${chain} is paused by the contracts: positions can be neither opened nor closed for now.`,
          }),
      ...ABOUT_NO_ORDER,
      link: `/v1/${chain}`,
    },
    createdAtMs: nowMs,
    expiresAtMs: null,
  }
}

/** The greatest number of agents of a chain whose expiry is told at a time. */
const MAX_EXPIRIES = 5_000

/** Time before an agent's expiry at which its trader is warned. */
const EXPIRY_WARNING_MS = 86_400_000

/**
 * Returns the notice that is due for an agent; `undefined` for one that does not expire soon, was revoked, or expired
 * more than `NEWS_MS` ago.
 */
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
      // The expiry is part of the subject, so that a changed expiry gives a new notice.
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

/** Describes an agent by its address. Its name is left out, because the reader need not be its owner. */
function named({ agent, chain }: AgentRecord): string {
  return `agent ${agent} on ${chain}`
}

function agentPath({ agent, chain }: AgentRecord): string {
  return `/v1/${chain}/agents/${agent}`
}
