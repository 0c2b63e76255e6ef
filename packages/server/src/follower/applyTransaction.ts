import { applyEvent } from './applyEvent.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from '../chain/chainBlock.ts'
import { addReverted } from './reverted.ts'
import { createTransactionScope, type TransactionScope } from './transactionScope.ts'

/** Everything that one transaction did, in the order of its log. */
export async function applyTransaction(scope: BlockScope, transaction: ChainTransaction): Promise<void> {
  const tx = createTransactionScope(scope, transaction)
  if (!transaction.hasLogs) return applySilent(tx)
  for (const [at, event] of transaction.events.entries()) await applyEvent(tx, event, at)
}

/**
 * Whatever is prepared here makes the Diamond speak when it succeeds, so a prepared transaction without a log reverted. The sender must be the
 * one it was prepared for: anybody can copy the bytes and let them fail.
 */
async function applySilent(tx: TransactionScope): Promise<void> {
  const found = await tx.exactAttempt()
  if (found?.attempt.sender !== tx.transaction.from) return
  await addReverted(tx.scope, found, tx.placeOf(-1 - tx.transaction.index))
}
