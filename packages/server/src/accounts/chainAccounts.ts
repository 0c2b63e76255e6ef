import type { Address } from '@bezel/protocol'
import { createAccountReads, type AccountReadsOptions } from './accountReads.ts'
import { tradersPerBatch } from './holdingsCalls.ts'
import type { Holdings } from './readHoldings.ts'
import { createRefreshQueue } from './refreshQueue.ts'
import { createRotation } from '../ground/rotation.ts'
import { createWatchers } from './watchers.ts'

/** The accounts of one chain: what is read of them, because the chain tells no event about it. */
export interface Accounts {
  /**
   * The account as JSON. At most one round trip, and none while the last one is younger than the setting; what is new in it is an event of
   * its log before it is shown. Throws `NodeUnavailableError` and `NOT_READY`. For traders who are known here, because a log begins with it.
   */
  accountText(trader: Address): Promise<string>
  /** The chain did something to this account: it is read again at once when somebody may be interested, or else when next asked for. */
  forget(trader: Address): void
  /** Keeps the account in the background rounds, until what it returns is called. */
  watch(trader: Address): () => void
}

/** Numbers of the background rounds. */
export interface AccountStats {
  readonly rounds: number
  /** In the last round, whether it was their turn or not. */
  readonly watched: number
  readonly lastRoundAtMs: number | undefined
}

export interface ChainAccounts extends Accounts {
  /** What anybody holds, known here or not: at once or after one round trip, and nothing is written down. Throws `NodeUnavailableError` and `NOT_READY`. */
  holdings(trader: Address): Holdings | Promise<Holdings>
  /** Reads the accounts of those who subscribed or were active lately. Throws `NodeUnavailableError`. */
  round(): Promise<void>
  stats(): AccountStats
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

/** Bounds what a round asks of a node; with more traders than that, they take turns. */
const MAX_TRADERS_PER_ROUND = 250

export function createAccounts(options: AccountReadsOptions): ChainAccounts {
  const { collaterals, now, onFailure } = options
  const { delegates } = options.agents
  const reads = createAccountReads(options)
  const watchers = createWatchers()
  const rotation = createRotation()
  const queue = createRefreshQueue({
    read: reads.refresh,
    batchSize: () => tradersPerBatch(collaterals() ?? []),
    onFailure,
  })
  let stats: AccountStats = { rounds: 0, watched: 0, lastRoundAtMs: undefined }

  return {
    accountText: reads.text,
    holdings: reads.holdings,
    watch: watchers.watch,
    stats: () => stats,
    forget(trader) {
      reads.forget(trader)
      if (watchers.has(trader) || delegates.isActive(trader)) queue.soon(trader)
    },
    async round() {
      const candidates = new Set([...watchers.traders(), ...delegates.active()])
      const due = rotation.take(candidates, collaterals() === undefined ? 0 : MAX_TRADERS_PER_ROUND)
      // Requests of active traders go by their delegates, so these are looked at in every round.
      await delegates.refreshActive((trader) => due.has(trader))
      if (!(await queue.round(due))) return
      stats = { rounds: stats.rounds + 1, watched: candidates.size, lastRoundAtMs: now() }
    },
    async idle() {
      await queue.idle()
      await reads.idle()
    },
  }
}
