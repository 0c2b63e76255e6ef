import { OFF_CHAIN } from '../../journal/accountLog.ts'
import { clockAt } from '../../journal/clock.ts'
import { refoldOrders } from '../../journal/refold.ts'
import type { ChainOrders } from '../../orders/chainOrders.ts'
import { setRelayedHash } from '../../store/attemptStore.ts'
import type { Transaction } from '../../store/sql.ts'
import type { RelayedHash } from '../relayer/relayContext.ts'

/**
 * Stores by which hashes relayed transactions are known from now on, within the relayer's transaction, and tells whose
 * orders they carry. The one that such an order named until now may never be mined.
 */
export function keepRelayedHashes(
  { accountLog, clock }: Pick<ChainOrders, 'accountLog' | 'clock'>,
  sql: Transaction,
  hashes: readonly RelayedHash[],
): Promise<void> {
  return accountLog.join(sql, OFF_CHAIN, async (journal, commit) => {
    const at = clockAt(clock(), commit)
    const touched = await Promise.all(
      hashes.map(({ attemptId, hash }) => setRelayedHash(sql, attemptId, hash, at.nowMs)),
    )
    await refoldOrders(sql, [...new Set(touched.flat())], at, journal)
  })
}
