import { keccak256 } from 'viem'

/** Tells a wrong password from a right one: keccak of the derived key's second half and the ciphertext. Without `0x`. */
export function checksumOf(derived: Buffer, ciphertext: Buffer): string {
  return keccak256(Buffer.concat([derived.subarray(16), ciphertext])).slice(2)
}
