import { ADDRESS_PATTERN } from '@bezel/protocol'

/** The 20 bytes of an address in any case, so that two can be compared without a checksum; `undefined` when it is none. */
export function addressBytes(text: string): Uint8Array | undefined {
  return ADDRESS_PATTERN.test(text) ? Buffer.from(text.slice(2), 'hex') : undefined
}
