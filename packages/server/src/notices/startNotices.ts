import type { Address, ChainSlug, Notification } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { ChainAgents } from '../agents/chainAgents.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { every, type Repetition } from '../ground/every.ts'
import { deleteExpiredNotices, dismissNotice, hasExpiredNotices, listNotices } from '../store/noticeStore.ts'
import type { Store } from '../store/sql.ts'
import { openChainNotices, type ChainNotices } from './chainNotices.ts'

/** The notices that users see. `writeNotices` writes those about orders; `startNoticeRounds` all others. */
export interface Notices {
  /** Returns the trader's active notices of all chains, newest first, at most 200. */
  list(trader: Address): Promise<Notification[]>
  /** Dismisses a notice. Returns false when this trader has no notice with this id. */
  dismiss(trader: Address, id: number): Promise<boolean>
}

export interface NoticesOptions {
  readonly chains: readonly ServedChain[]
  readonly agentsOf: (slug: ChainSlug) => ChainAgents
  /** Returns a chain's markets; `undefined` until they are read for the first time. */
  readonly marketsOf: (slug: ChainSlug) => ChainMarkets | undefined
  readonly store: Store
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

/** The greatest number of notices in a list. Nobody reads more. */
const MAX_LISTED = 200

/**
 * Pause between two rounds: a pause of trading or a lost delegation should be reported within moments. A round that
 * finds nothing new writes nothing.
 */
const ROUND_MS = 2_000

/** The greatest number of expired notices that one round deletes. */
const MAX_DELETED = 500

export function createNotices({ store, now }: Pick<NoticesOptions, 'store' | 'now'>): Notices {
  return {
    list: (trader) => listNotices(store.read, trader, { nowMs: now(), limit: MAX_LISTED }),
    dismiss: (trader, id) => store.transaction({ name: 'notices' }, (sql) => dismissNotice(sql, trader, id)),
  }
}

/** Starts the rounds that write the notices of all chains which no event causes, and delete those that are over. */
export function startNoticeRounds(options: NoticesOptions): Repetition {
  const { store, now, log } = options
  const watched = options.chains.map(({ slug }) =>
    openChainNotices({ agents: options.agentsOf(slug), markets: () => options.marketsOf(slug), store, now }),
  )
  const rounds = every(ROUND_MS, () => runRound(watched, options), {
    onError: (error) => log.error({ err: error }, 'notices could not be settled'),
  })

  return {
    async close() {
      await rounds.close()
      for (const chain of watched) chain.close()
    },
  }
}

async function runRound(chains: readonly ChainNotices[], { store, now }: NoticesOptions): Promise<void> {
  const settled = await Promise.allSettled(chains.map((chain) => chain.settle()))
  const nowMs = now()
  if (await hasExpiredNotices(store.read, nowMs)) {
    await store.transaction({ name: 'cleanup' }, (sql) => deleteExpiredNotices(sql, nowMs, MAX_DELETED))
  }
  // An error of one chain is thrown only now, so that it does not keep the others from settling.
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
}
