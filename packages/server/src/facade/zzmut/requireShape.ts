import { diamondAbi, type Address } from '@bezel/protocol'
import { getAbiItem, toFunctionSelector } from 'viem'
import type { FeeTransaction } from './encodeTransaction.ts'

/** Of `delegatedTradingAction`. */
export const ACTION_SELECTOR = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'delegatedTradingAction' }))

/** Of `0x`. */
const EMPTY_LENGTH = 2

export interface AllowedParties {
  readonly diamond: Address
  /** Of the key. */
  readonly self: Address
}

/**
 * The key signs two shapes and no other: an action of a trader on the Diamond, and a transfer of nothing to itself, which burns a nonce. So
 * whatever goes wrong elsewhere, it can neither pay anybody nor call another contract. Throws a `ForbiddenTransactionError`.
 */
export function requireShape({ to, value, data }: FeeTransaction, { diamond, self }: AllowedParties): void {
  const isAction = to === diamond && data.startsWith(ACTION_SELECTOR)
  const isBurn = to === self && data.length === EMPTY_LENGTH
  if (value !== 0n || diamond === self || isAction === isBurn) throw new ForbiddenTransactionError()
}

/** Somebody asked the relayer for a signature that it never gives. */
export class ForbiddenTransactionError extends Error {
  override readonly name = 'ForbiddenTransactionError'

  constructor() {
    super('the relayer signs actions on the Diamond and empty transfers to itself, and nothing else')
  }
}
