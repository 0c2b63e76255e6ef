import type { Hex } from '@bezel/protocol'
import { findAttempt, type StoredAttempt } from '../store/attemptStore.ts'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from '../chain/chainBlock.ts'

const ID_DIGITS = 16

/** The attempt whose very calldata a transaction has. */
export async function findExactAttempt(
  { sql, chain }: Pick<BlockScope, 'sql' | 'chain'>,
  { input }: Pick<ChainTransaction, 'input'>,
): Promise<StoredAttempt | undefined> {
  const named = await findAttempt(sql, attemptIdIn(input))
  return named?.chain === chain && named.attempt.calldata === input ? named : undefined
}

/** The 8 bytes behind the calldata. */
function attemptIdIn(input: Hex): AttemptId {
  return `0x${input.slice(2).slice(-ID_DIGITS)}` as AttemptId
}
