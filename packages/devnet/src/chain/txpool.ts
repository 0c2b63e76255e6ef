import type { EdrProvider } from './edrProvider.ts'
import { toQuantity } from './quantity.ts'
import type { Hex } from './quantity.ts'

interface PooledTransaction {
  from: Hex
  nonce: Hex
}

/** Transactions by sender, then by nonce, as geth's txpool_content gives them. */
type BySender = Record<Hex, Record<string, PooledTransaction>>

/** `pending` can go into the next block; `queued` wait for an earlier nonce. */
export interface TxpoolContent {
  pending: BySender
  queued: BySender
}

/** txpool_content, which EDR lacks. */
export async function txpoolContent(edr: EdrProvider): Promise<TxpoolContent> {
  const waiting = await edr.call<PooledTransaction[]>('eth_pendingTransactions')
  const content: TxpoolContent = { pending: {}, queued: {} }
  const bySender = Map.groupBy(waiting, ({ from }) => from)
  for (const [sender, transactions] of bySender) {
    let next = Number(await edr.call<Hex>('eth_getTransactionCount', [sender, 'latest']))
    for (const transaction of transactions.toSorted((a, b) => Number(a.nonce) - Number(b.nonce))) {
      const nonce = Number(transaction.nonce)
      const place = nonce === next ? content.pending : content.queued
      if (nonce === next) next += 1
      ;(place[sender] ??= {})[nonce] = transaction
    }
  }
  return content
}

/** txpool_status: how many of each. */
export async function txpoolStatus(edr: EdrProvider): Promise<{ pending: Hex; queued: Hex }> {
  const { pending, queued } = await txpoolContent(edr)
  return { pending: countAll(pending), queued: countAll(queued) }
}

function countAll(bySender: BySender): Hex {
  return toQuantity(Object.values(bySender).reduce((sum, byNonce) => sum + Object.keys(byNonce).length, 0))
}
