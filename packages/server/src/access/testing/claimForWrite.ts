import type { Address, ChainSlug } from '@bezel/protocol'
import type { Store } from '../../store/sql.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'
import type { Nonces } from '../nonces.ts'

/** Claims a nonce as a write does: before its other checks, and again in its own transaction. */
export async function claimForWrite(
  nonces: Nonces,
  store: Pick<Store, 'transaction'>,
  ...claim: readonly [chain: ChainSlug, agent: Address, nonce: string, timestampMs: number]
): Promise<boolean> {
  return nonces.claim(...claim) && store.transaction(TEST_SCOPE, (sql) => nonces.storeClaim(sql, ...claim))
}
