import { StoreUnavailableError, NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { ChainAgents } from '../agents/chainAgents.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'
import { startRounds } from '../ground/rounds.ts'
import { createAccounts, type ChainAccounts } from './chainAccounts.ts'
import type { AccountLog } from '../journal/accountLog.ts'

export interface AccountsOptions {
  readonly chains: readonly { readonly slug: ChainSlug }[]
  readonly agentsOf: (slug: ChainSlug) => ChainAgents
  /** `undefined` until they are read. */
  readonly collateralsOf: (slug: ChainSlug) => readonly ListedCollateral[] | undefined
  /** Asked for with every account that is told: the logs need not be there before anybody comes. */
  readonly logOf: (slug: ChainSlug) => Pick<AccountLog, 'account'>
  /** Between two rounds, and how old an answer may be. */
  readonly refreshMs: number
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

export interface RunningAccounts {
  readonly byChain: ReadonlyMap<ChainSlug, ChainAccounts>
  close(): Promise<void>
}

/** Starts a round per chain that keeps the accounts of those who may be interested fresh, and their logs with them. */
export function startAccounts(options: AccountsOptions): RunningAccounts {
  const open = new AsyncDisposableStack()
  const byChain = new Map(options.chains.map(({ slug }) => [slug, startChain(slug, options, open)]))
  return { byChain, close: () => open.disposeAsync() }
}

function startChain(slug: ChainSlug, options: AccountsOptions, open: AsyncDisposableStack): ChainAccounts {
  const agents = options.agentsOf(slug)
  const onFailure = (error: unknown): void => {
    // A node or a store that is away is reported by the readiness; what was read before stays.
    if (error instanceof NodeUnavailableError || error instanceof StoreUnavailableError) return
    options.log.error({ err: error, chain: slug }, 'accounts can not be kept fresh')
  }
  const accounts = createAccounts({
    agents,
    onFailure,
    collaterals: () => options.collateralsOf(slug),
    log: { account: (trader, account) => options.logOf(slug).account(trader, account) },
    maxAgeMs: options.refreshMs,
    now: options.now,
  })
  open.defer(() => accounts.idle())
  const rounds = startRounds({ everyMs: options.refreshMs, round: () => accounts.round(), onError: onFailure })
  open.defer(() => rounds.close())
  return accounts
}
