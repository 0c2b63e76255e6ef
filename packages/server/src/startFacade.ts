import type { ChainSlug } from '@bezel/protocol'
import type { RunningAccounts } from './accounts/startAccounts.ts'
import type { ServedChain } from './chain/servedChain.ts'
import type { ServerConfig } from './config.ts'
import { createFacadeReads, type FacadeReads } from './facade/facadeReads.ts'
import type { Access } from './http/openAccess.ts'
import type { Markets } from './market/startMarkets.ts'
import type { Trading } from './startTrading.ts'
import type { Store } from './store/sql.ts'

export interface FacadeOptions {
  readonly config: ServerConfig
  readonly chains: readonly ServedChain[]
  readonly store: Store
  readonly markets: Markets
  readonly access: Access
  readonly accounts: RunningAccounts
  readonly trading: Trading
}

/** What the exchange-shaped facade of each chain answers from. */
export function startFacade(options: FacadeOptions): ReadonlyMap<ChainSlug, FacadeReads> {
  return new Map(options.chains.map(({ slug }) => [slug, readsOf(slug, options)]))
}

function readsOf(slug: ChainSlug, options: FacadeOptions): FacadeReads {
  const { config, store, markets, access, accounts, trading } = options
  const { positions, follower } = trading.byChain.get(slug)!
  return createFacadeReads({
    chain: slug,
    now: Date.now,
    market: markets.byChain.get(slug)!,
    book: markets.feed.book,
    hours: markets.hours,
    candles: markets.candles,
    store,
    positions,
    follower,
    accounts: accounts.byChain.get(slug)!,
    registry: access.agentsOf(slug).registry,
    requestsPerMinute: config.ipLimit,
  })
}
