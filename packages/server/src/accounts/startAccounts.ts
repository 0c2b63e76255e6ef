import type { Address, ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { ChainAgents } from '../agents/chainAgents.ts'
import { NodeUnavailableError } from '../chain/rpcOutcome.ts'
import type { ListedCollateral } from '../market/chainMarkets.ts'
import { createHoldingsCache } from './holdingsCache.ts'
import { readHoldings, type Holdings } from './readHoldings.ts'

/** The accounts of one chain: what is read of them, because the chain tells no event about it. */
export interface Accounts {
  /** At most one round trip, and none while the last one is younger than the setting. Throws `NodeUnavailableError`. */
  holdings(trader: Address, collaterals: readonly ListedCollateral[]): Promise<Holdings>
  /** The chain did something to this account: what it holds is read again when next asked for. */
  forget(trader: Address): void
}

export interface AccountsOptions {
  readonly chains: readonly { readonly slug: ChainSlug }[]
  readonly agentsOf: (slug: ChainSlug) => ChainAgents
  /** Between two rounds, and how old an answer may be. */
  readonly refreshMs: number
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

export interface RunningAccounts {
  readonly byChain: ReadonlyMap<ChainSlug, Accounts>
  close(): void
}

/** Starts a round per chain that keeps the delegates of active traders fresh, so that private reads never wait for a node. */
export function startAccounts({ chains, agentsOf, refreshMs, now, log }: AccountsOptions): RunningAccounts {
  const timers = chains.map(({ slug }) => {
    const { delegates } = agentsOf(slug)
    let isRunning = false
    return setInterval(async () => {
      // One that takes longer than the interval is not joined by another.
      if (isRunning) return
      isRunning = true
      try {
        await delegates.refreshActive()
      } catch (error) {
        // A node that is away is reported by the readiness of its chain; the looks stay.
        if (!(error instanceof NodeUnavailableError))
          log.error({ err: error, chain: slug }, 'delegates can not be read')
      } finally {
        isRunning = false
      }
    }, refreshMs)
  })
  return {
    byChain: new Map(chains.map(({ slug }) => [slug, createAccounts(agentsOf(slug), refreshMs, now)])),
    close: () => timers.forEach((timer) => clearInterval(timer)),
  }
}

export function createAccounts(
  { chain, client, delegates }: Pick<ChainAgents, 'chain' | 'client' | 'delegates'>,
  maxAgeMs: number,
  now: () => number,
): Accounts {
  const cache = createHoldingsCache({ maxAgeMs, now })
  return {
    forget: cache.forget,
    holdings: (trader, collaterals) =>
      cache.get(trader, async () => {
        const askedAtMs = now()
        const holdings = await readHoldings(client, chain, collaterals, trader)
        delegates.learn(trader, holdings.delegate, askedAtMs)
        return holdings
      }),
  }
}
