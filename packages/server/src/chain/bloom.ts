import type { Address, Hex } from '@bezel/protocol'
import { keccak256 } from 'viem'

/** Returns false when a block certainly has no log with an entry, judged by the block's bloom filter. */
export type BloomTest = (logsBloom: Hex) => boolean

/** Length of a filter as text: 2048 bits in hex digits, after `0x`. */
const FILTER_LENGTH = 514

/**
 * Makes the bloom test of an entry: the address of a contract that emits logs, or a topic. Each entry sets three bits
 * of the filter, chosen by its hash. A filter of another length says nothing, so everything may be in it.
 */
export function bloomTestOf(entry: Address | Hex): BloomTest {
  const digits = keccak256(entry).slice(2)
  const bits = [0, 4, 8].map((at) => Number.parseInt(digits.slice(at, at + 4), 16) & 2047)
  return (logsBloom) => logsBloom.length !== FILTER_LENGTH || bits.every((bit) => isSet(logsBloom, bit))
}

/** Returns true when a bit of the filter is set. Bit 0 is the lowest bit of the last byte. */
function isSet(logsBloom: Hex, bit: number): boolean {
  const digit = logsBloom.at(-1 - (bit >> 2))
  return digit !== undefined && (Number.parseInt(digit, 16) & (1 << (bit & 3))) !== 0
}
