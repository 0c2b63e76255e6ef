import type { Hex, OrderId } from '@bezel/protocol'
import { listAwaitedAttempts } from '../store/attemptStore.ts'
import type { Store } from '../store/sql.ts'
import type { ServedChain } from '../chain/servedChain.ts'

/** Orders whose receipts one look asks for: of each at most two. */
const MAX_AWAITED = 25
const BEFORE_ALL = '0' as OrderId

/** Gives, with each look at the node, the next reported hashes to ask about, going round all orders that wait for one. */
export function createAwaitedHashes(of: {
  readonly store: Pick<Store, 'read'>
  readonly chain: Pick<ServedChain, 'slug'>
  readonly now: () => number
}): () => Promise<Hex[]> {
  let after = BEFORE_ALL
  return async () => {
    const awaited = await listAwaitedAttempts(of.store.read, of.chain.slug, {
      nowMs: of.now(),
      after,
      orders: MAX_AWAITED,
    })
    const orders = new Set(awaited.map(({ orderId }) => orderId))
    after = orders.size < MAX_AWAITED ? BEFORE_ALL : (awaited.at(-1)?.orderId ?? BEFORE_ALL)
    const hashes = awaited.map(({ attempt }) => attempt.submittedHash)
    return [...new Set(hashes.filter((hash) => hash !== null))]
  }
}
