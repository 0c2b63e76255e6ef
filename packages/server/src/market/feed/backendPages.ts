import type { MarketGroup } from '@bezel/protocol'
import { readJsonPage, record } from './pages.ts'

/** The pages of a chain's trading backend. */
export interface BackendPages {
  /**
   * Reads `GET /trading-variables`: true for each group of markets that trades now; `undefined` where the backend does
   * not say. Throws `FeedUnavailableError`.
   */
  openGroups(): Promise<ReadonlyMap<MarketGroup, boolean> | undefined>
}

const GROUPS: readonly (readonly [flag: string, group: MarketGroup])[] = [
  ['isForexOpen', 'forex'],
  ['isStocksOpen', 'stocks'],
  ['isIndicesOpen', 'indices'],
  ['isCommoditiesOpen', 'commodities'],
]

/** Names the variables, because without names the page has megabytes. */
const PATH = `/trading-variables/${GROUPS.map(([flag]) => flag).join(',')}`

/** Creates a reader of a backend's pages. `backendUrl` is http or https, without a slash at its end. */
export function createBackendPages(backendUrl: string): BackendPages {
  return {
    async openGroups() {
      const variables = record(await readJsonPage(backendUrl, PATH))
      const flags = GROUPS.map(([flag, group]) => [group, variables[flag]] as const)
      const known = flags.filter((entry): entry is [MarketGroup, boolean] => typeof entry[1] === 'boolean')
      return known.length === 0 ? undefined : new Map(known)
    },
  }
}
