import type { Address, OrderId } from '@bezel/protocol'
import type { ChainPlace } from '../../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from './chainBlock.ts'
import { findAttemptOf, type FoundAttempt } from './findAttemptOf.ts'

/** A transaction while its events are applied, one after the other. */
export interface TransactionScope {
  readonly scope: BlockScope
  readonly transaction: ChainTransaction
  /** The attempt it is, if it is one. Looked for at the first call: transactions of oracles and bots never ask. */
  attempt(): Promise<FoundAttempt | undefined>
  placeOf(logIndex: number): ChainPlace
  /** A key for the next order that this transaction creates, the same whichever block it is mined in. */
  nextOriginKey(): string
  /** Token size (1e18) that a position had before this transaction changed it. */
  readonly tokensBefore: Map<OrderId, bigint>
}

export function createTransactionScope(scope: BlockScope, transaction: ChainTransaction): TransactionScope {
  const { number: blockNumber, hash: blockHash, timestampMs } = scope.block
  let attempt: Promise<FoundAttempt | undefined> | undefined
  let created = 0
  return {
    scope,
    transaction,
    attempt: () => (attempt ??= findAttemptOf(scope, transaction)),
    placeOf: (logIndex) => ({ blockNumber, blockHash, logIndex, txHash: transaction.hash, timestampMs }),
    nextOriginKey: () => `tx:${transaction.hash}:${created++}`,
    tokensBefore: new Map(),
  }
}

/** Decoded addresses are in EIP-55 form. */
export function traderOf(address: `0x${string}`): Address {
  return address as Address
}
