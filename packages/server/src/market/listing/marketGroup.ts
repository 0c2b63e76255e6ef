import type { MarketGroup } from '@bezel/protocol'

const PREFIXES: readonly (readonly [prefix: string, group: MarketGroup])[] = [
  ['crypto', 'crypto'],
  ['altcoins', 'crypto'],
  ['forex', 'forex'],
  ['stocks', 'stocks'],
  ['indices', 'indices'],
  ['commodities', 'commodities'],
]

/**
 * The class of a group by its name on chain, such as `stocks-2` or `forex-minor`. Names that we do not know count as crypto: the one live
 * group whose name no public source gives is of that class.
 */
export function marketGroupOf(name: string): MarketGroup {
  return PREFIXES.find(([prefix]) => name.toLowerCase().startsWith(prefix))?.[1] ?? 'crypto'
}
