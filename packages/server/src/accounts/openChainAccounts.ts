import type { ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { every } from '../ground/every.ts'
import { NodeUnavailableError, StoreUnavailableError } from '../ground/unavailable.ts'
import type { AccountReadsOptions } from './accountReads.ts'
import { createAccounts, type ChainAccounts } from './chainAccounts.ts'

export interface ChainAccountsOptions extends Pick<
  AccountReadsOptions,
  'agents' | 'collaterals' | 'positions' | 'hasOrders' | 'terms' | 'isShared' | 'now'
> {
  readonly accountLog: AccountReadsOptions['log']
  /** Pause between two rounds, and the greatest age of an answer, in milliseconds. */
  readonly refreshMs: number
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

export interface OpenChainAccounts extends ChainAccounts {
  /** Ends the rounds. Resolves when no work is under way any more. */
  close(): Promise<void>
}

/**
 * Keeps the accounts of a chain's subscribed and active traders, and their logs, up to date by rounds in the
 * background.
 */
export function openChainAccounts(slug: ChainSlug, options: ChainAccountsOptions): OpenChainAccounts {
  const { agents, collaterals, positions, hasOrders, terms, isShared = false, accountLog, refreshMs, now } = options
  const onFailure = (error: unknown): void => {
    // The readiness check reports a node or a store that is unavailable; the values read before stay in use.
    if (error instanceof NodeUnavailableError || error instanceof StoreUnavailableError) return
    options.log.error({ err: error, chain: slug }, 'accounts can not be kept fresh')
  }
  const accounts = createAccounts({
    agents,
    collaterals,
    positions,
    hasOrders,
    terms,
    isShared,
    log: accountLog,
    maxAgeMs: refreshMs,
    now,
    onFailure,
  })
  // The first one, at once, reads the terms of all positions, which nothing keeps across a restart.
  const rounds = every(refreshMs, () => accounts.round(), { isAtOnce: true, onError: onFailure })
  return {
    ...accounts,
    async close() {
      await rounds.close()
      await accounts.idle()
    },
  }
}
