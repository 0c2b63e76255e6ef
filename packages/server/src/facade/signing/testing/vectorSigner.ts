import type { EnvelopeSignature } from '../envelope.ts'

/** A digest with its signature by `VECTOR_KEY`. */
export interface Signed {
  readonly digest: string
  readonly signature: { readonly r: string; readonly s: string; readonly v: EnvelopeSignature['v'] }
}

/** The key of the test vectors, never of a wallet. */
export const VECTOR_KEY = '0x0123456789012345678901234567890123456789012345678901234567890123'
export const VECTOR_SIGNER = '0x14791697260E4c9A71f18484C9f997B308e59325'
