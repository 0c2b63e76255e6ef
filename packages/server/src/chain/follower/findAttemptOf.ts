import type { Hex } from '@bezel/protocol'
import { findAttempt, findAttemptByHash, type StoredAttempt } from '../../store/attemptStore.ts'
import type { AttemptId } from '../../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from './chainBlock.ts'

/** An attempt and how it was recognised: by its own calldata, or only by the hash that its agent reported. */
export interface FoundAttempt extends StoredAttempt {
  readonly isExact: boolean
}

const ID_DIGITS = 16

/** The attempt that a transaction is. */
export async function findAttemptOf(
  { sql, chain }: Pick<BlockScope, 'sql' | 'chain'>,
  { hash, input }: Pick<ChainTransaction, 'hash' | 'input'>,
): Promise<FoundAttempt | undefined> {
  const named = await findAttempt(sql, attemptIdIn(input))
  if (named?.chain === chain && named.attempt.calldata === input) return { ...named, isExact: true }
  const reported = await findAttemptByHash(sql, chain, hash)
  if (reported === undefined || reported.attempt.isMismatch) return undefined
  return { ...reported, isExact: false }
}

/** The 8 bytes behind the calldata. */
function attemptIdIn(input: Hex): AttemptId {
  return `0x${input.slice(2).slice(-ID_DIGITS)}` as AttemptId
}

/** Calldata without the 8 bytes behind it. */
export function withoutAttemptId(calldata: Hex): Hex {
  return calldata.slice(0, -ID_DIGITS) as Hex
}
