import type { Address } from '@bezel/protocol'
/** A nonce with whose it is. */
export interface UsedNonce {
  readonly signer: Address
  readonly nonce: number
}
