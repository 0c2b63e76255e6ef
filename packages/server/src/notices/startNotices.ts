import type { Address, ChainSlug, Notification } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { ChainAgents } from '../agents/chainAgents.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { startRounds } from '../ground/rounds.ts'
import { deleteExpiredNotices, dismissNotice, hasExpiredNotices, listNotices } from '../store/noticeStore.ts'
import type { Store } from '../store/sql.ts'
import { watchChainNotices, type ChainNotices } from './watchChainNotices.ts'

/** What users are told. What comes of orders is written by `writeNotices`; the rest is looked for in rounds. */
export interface Notices {
  /** Active ones of all chains, newest first. */
  list(trader: Address): Promise<Notification[]>
  /** Whether this trader has such a notice: `false` for an id that is unknown, or somebody else's. */
  dismiss(trader: Address, id: number): Promise<boolean>
  close(): Promise<void>
}

export interface NoticesOptions {
  readonly chains: readonly ServedChain[]
  readonly agentsOf: (slug: ChainSlug) => ChainAgents
  /** `undefined` until they are read for the first time. */
  readonly marketsOf: (slug: ChainSlug) => ChainMarkets | undefined
  readonly store: Store
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

/** Nobody reads more. */
const MAX_LISTED = 200

/** Between two rounds: a pause or a lost delegation should be told within moments. A round that finds nothing new writes nothing. */
const ROUND_MS = 2_000

/** In one round. */
const MAX_DELETED = 500

export function startNotices(options: NoticesOptions): Notices {
  const { store, now, log } = options
  const watched = options.chains.map(({ slug }) => watchChainNotices(slug, options))
  const rounds = startRounds({
    everyMs: ROUND_MS,
    round: () => runRound(watched, options),
    onError: (error) => log.error({ err: error }, 'notices could not be settled'),
  })

  return {
    list: (trader) => listNotices(store.read, trader, { nowMs: now(), limit: MAX_LISTED }),
    dismiss: (trader, id) => store.transaction((sql) => dismissNotice(sql, trader, id)),
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
    await store.transaction((sql) => deleteExpiredNotices(sql, nowMs, MAX_DELETED))
  }
  // One chain's trouble is no other's.
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
}
