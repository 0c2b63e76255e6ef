import type { Brand } from './brand.ts'

export const HEX_PATTERN = /^0x[0-9a-fA-F]*$/

/** Bytes in hexadecimal, lower case, an even number of digits. */
export type Hex = Brand<`0x${string}`, 'Hex'>

/** `undefined` when it is not hexadecimal or ends in half a byte. */
export function parseHex(text: string): Hex | undefined {
  const isWholeBytes = text.length % 2 === 0 && HEX_PATTERN.test(text)
  return isWholeBytes ? (text.toLowerCase() as Hex) : undefined
}
