import type { Address, ChainSlug } from '@bezel/protocol'
import { countProvenAgents } from '../store/agentStore.ts'
import { hasHadPosition } from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'

/**
 * Returns true when something on the chain speaks for a trader: a proven agent, or a position. Keys are free, so
 * whatever a trader without either registers is a claim.
 */
export async function isKnownTrader(sql: Sql, chain: ChainSlug, trader: Address): Promise<boolean> {
  return (await countProvenAgents(sql, { chain, trader }, 1)) > 0 || (await hasHadPosition(sql, chain, trader))
}
