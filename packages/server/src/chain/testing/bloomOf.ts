import type { Address, Hex } from '@bezel/protocol'
import { keccak256 } from 'viem'

/**
 * Computes a bloom filter as the Yellow Paper defines it: big-endian, three 11-bit numbers from the first six bytes of
 * the hash.
 */
export function bloomOf(...entries: readonly (Address | Hex)[]): Hex {
  let bits = 0n
  for (const entry of entries) {
    const hash = keccak256(entry)
    for (const at of [2, 6, 10]) bits |= 1n << (BigInt(`0x${hash.slice(at, at + 4)}`) % 2048n)
  }
  return `0x${bits.toString(16).padStart(512, '0')}` as Hex
}
