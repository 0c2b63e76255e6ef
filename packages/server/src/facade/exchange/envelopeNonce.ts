import type { Address } from '@bezel/protocol'
import type { Sql } from '../../store/sql.ts'
import type { TradingParts } from './exchangeParts.ts'

/**
 * The nonce of an envelope that was taken in memory. It is used up for good with the first write that the envelope makes, in one commit: a crash
 * before it leaves the envelope unused, one after it leaves what it asked for done.
 */
export interface EnvelopeNonce {
  /** In the transaction of a write. False when another process used it. */
  claim(sql: Sql): Promise<boolean>
  /** A write that claimed it is committed. */
  noteKept(): void
  /** Uses it up when no write did: what was answered is never answered again. False when another process used it. */
  keep(): Promise<boolean>
}

export function createEnvelopeNonce(
  { nonces, store }: Pick<TradingParts, 'nonces' | 'store'>,
  of: { readonly signer: Address; readonly nonce: number },
): EnvelopeNonce {
  let isKept = false
  const claim = async (sql: Sql): Promise<boolean> => isKept || nonces.claim(sql, of.signer, of.nonce)
  return {
    claim,
    noteKept: () => void (isKept = true),
    async keep() {
      if (isKept) return true
      const isFree = await store.transaction(claim)
      isKept = true
      return isFree
    },
  }
}
