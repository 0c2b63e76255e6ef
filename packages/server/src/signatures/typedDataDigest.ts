import type { SigningDomain } from '@bezel/protocol'
import { domainSeparator } from './domainSeparator.ts'
import { keccak256 } from './keccak256.ts'
import { WORD_BYTES, type TypedDataWord } from './typedDataWord.ts'

/** AgentAuthorization is the longest struct: its type hash and 8 members. */
const MAX_STRUCT_WORDS = 9

// Written and hashed within one call, so they can serve every call.
const struct = new Uint8Array(MAX_STRUCT_WORDS * WORD_BYTES)
const signed = Uint8Array.of(0x19, 0x01, ...new Uint8Array(2 * WORD_BYTES))

/** What a wallet signs for a struct (EIP-712); `undefined` when one of its members could not be encoded. */
export function typedDataDigest(
  domain: SigningDomain,
  typeHash: TypedDataWord,
  members: readonly (TypedDataWord | undefined)[],
): Uint8Array | undefined {
  struct.set(typeHash)
  let end = WORD_BYTES
  for (const member of members) {
    if (member?.length !== WORD_BYTES) return undefined
    struct.set(member, end)
    end += WORD_BYTES
  }
  signed.set(domainSeparator(domain), 2)
  signed.set(keccak256(struct.subarray(0, end)), 2 + WORD_BYTES)
  return keccak256(signed)
}
