import type { Address, Hex } from '@bezel/protocol'
import { keccak256 } from 'viem'

/** Tells from a block's bloom filter whether a contract may have logs in it: never wrong when it says no. */
export type BloomTest = (logsBloom: Hex) => boolean

/** The filter has 2048 bits, of which each logging address sets three, named by its hash. */
export function bloomTestOf(address: Address): BloomTest {
  const digits = keccak256(address).slice(2)
  const bits = [0, 4, 8].map((at) => Number.parseInt(digits.slice(at, at + 4), 16) & 2047)
  return (logsBloom) => bits.every((bit) => isSet(logsBloom, bit))
}

/** Bit 0 is the last one of the last byte. */
function isSet(logsBloom: Hex, bit: number): boolean {
  const digit = logsBloom.at(-1 - (bit >> 2))
  return digit !== undefined && (Number.parseInt(digit, 16) & (1 << (bit & 3))) !== 0
}
