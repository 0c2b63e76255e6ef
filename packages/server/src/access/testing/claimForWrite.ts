import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from '../../store/sql.ts'
import type { Nonces } from '../nonces.ts'

/** Claims a nonce as a write does: before its other checks, and again in its own transaction. */
export async function claimForWrite(
  nonces: Nonces,
  sql: Sql,
  ...claim: readonly [chain: ChainSlug, agent: Address, nonce: string, timestampMs: number]
): Promise<boolean> {
  return nonces.claim(...claim) && nonces.storeClaim(sql, ...claim)
}
