import type { Address, OrderId } from '@bezel/protocol'
import { listAttemptsByHash, type StoredAttempt } from '../store/attemptStore.ts'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from '../chain/chainBlock.ts'
import { findExactAttempt } from './findExactAttempt.ts'

/** A transaction while its events are applied, one after the other. */
export interface TransactionScope {
  readonly scope: BlockScope
  readonly transaction: ChainTransaction
  /** The attempt it is by its own calldata. Looked for at the first call: transactions of oracles and bots never ask. */
  exactAttempt(): Promise<StoredAttempt | undefined>
  /** The attempts it can be: by its calldata one, else those of the trader that its hash was reported for. */
  attemptsOf(trader: Address): Promise<readonly StoredAttempt[]>
  placeOf(logIndex: number): ChainPlace
  /** A key for the next order that this transaction creates, the same whichever block it is mined in. */
  nextOriginKey(): string
  /** Token size (1e18) that a position had before this transaction changed it. */
  readonly tokensBefore: Map<OrderId, bigint>
}

export function createTransactionScope(scope: BlockScope, transaction: ChainTransaction): TransactionScope {
  const { number: blockNumber, hash: blockHash, timestampMs } = scope.block
  let exact: Promise<StoredAttempt | undefined> | undefined
  let created = 0
  const exactAttempt = (): Promise<StoredAttempt | undefined> => (exact ??= findExactAttempt(scope, transaction))
  return {
    scope,
    transaction,
    exactAttempt,
    async attemptsOf(trader) {
      const found = await exactAttempt()
      return found === undefined ? listAttemptsByHash(scope.sql, scope.chain, transaction.hash, trader) : [found]
    },
    placeOf: (logIndex) => ({ blockNumber, blockHash, logIndex, txHash: transaction.hash, timestampMs }),
    nextOriginKey: () => `tx:${transaction.hash}:${created++}`,
    tokensBefore: new Map(),
  }
}

/** Decoded addresses are in EIP-55 form. */
export function traderOf(address: `0x${string}`): Address {
  return address as Address
}
