import type { Hex, OrderId } from '@bezel/protocol'
import {
  parseReceipt,
  parseTransaction,
  receiptCall,
  resultOf,
  transactionCall,
  type Receipt,
  type RpcTransaction,
} from '../chain/blocks.ts'
import type { RpcCall, RpcOutcome } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { listAwaitedAttempts } from '../store/attemptStore.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import { hasLapsed } from '../trading/orders/openAttempts.ts'

/** The findings about reported hashes. */
export interface ReportedReading {
  readonly receipts: readonly Receipt[]
  /** Transactions, mined or not, that no node had known before. */
  readonly seen: readonly RpcTransaction[]
  /** Blocks of these receipts that were passed over, because they have no logs, and can still be undone. */
  readonly passedOver?: readonly FollowedBlock[]
}

export const NOTHING_REPORTED: ReportedReading = { receipts: [], seen: [] }

/** A reported hash to ask about. */
export interface AwaitedHash {
  readonly hash: Hex
  /** True while no node knows the transaction. */
  readonly isUnseen: boolean
}

/** The calls about reported hashes, which join a batch of other calls. */
interface ReportedQuestions {
  readonly calls: readonly RpcCall[]
  /** Reads the outcomes of these calls. */
  answered(outcomes: readonly RpcOutcome[]): ReportedReading
}

/** Asks for the receipts of reported transactions; those that no node knew are looked up too. */
export function askReported(awaited: readonly AwaitedHash[]): ReportedQuestions {
  const unseen = awaited.filter(({ isUnseen }) => isUnseen)
  return {
    calls: [...awaited.map(({ hash }) => receiptCall(hash)), ...unseen.map(({ hash }) => transactionCall(hash))],
    answered: (outcomes) => ({
      receipts: readable(outcomes.slice(0, awaited.length), parseReceipt),
      seen: readable(outcomes.slice(awaited.length), (json) => (json === null ? undefined : parseTransaction(json))),
    }),
  }
}

/**
 * Reads the answers about reported hashes; a refused one counts as not known yet. Anybody can report any hash, and
 * nodes refuse some, of old transactions or while they index. That must not hold up the block.
 */
function readable<Found>(outcomes: readonly RpcOutcome[], parse: (json: unknown) => Found | undefined): Found[] {
  return outcomes.flatMap((outcome) => {
    try {
      return parse(resultOf(outcome)) ?? []
    } catch (error) {
      if (error instanceof NodeUnavailableError) return []
      throw error
    }
  })
}

/**
 * Maximum number of orders whose receipts one read asks for. Each has at most two, which may be asked for in two ways,
 * and providers refuse batches of more than 100 calls.
 */
const MAX_AWAITED = 15

const BEFORE_ALL = '0' as OrderId

/**
 * Returns a function that lists the next reported hashes to ask the node about, round robin over all orders that wait
 * for a receipt.
 */
export function createAwaitedHashes(of: {
  readonly store: Pick<Store, 'read'>
  readonly chain: Pick<ServedChain, 'slug'>
  readonly now: () => number
}): () => Promise<AwaitedHash[]> {
  let after = BEFORE_ALL
  return async () => {
    const nowMs = of.now()
    const awaited = await listAwaitedAttempts(of.store.read, of.chain.slug, { nowMs, after, orders: MAX_AWAITED })
    const orders = new Set(awaited.map(({ orderId }) => orderId))
    after = orders.size < MAX_AWAITED ? BEFORE_ALL : (awaited.at(-1)?.orderId ?? BEFORE_ALL)
    const byHash = Map.groupBy(awaited, ({ attempt }) => attempt.submittedHash)
    return [...byHash].flatMap(([hash, found]) => {
      if (hash === null) return []
      const isUnseen = found.some(({ attempt }) => attempt.trustedUntilMs !== null && !hasLapsed(attempt, nowMs))
      return [{ hash, isUnseen }]
    })
  }
}
