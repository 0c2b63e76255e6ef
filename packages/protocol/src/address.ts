import { getAddress } from 'viem'
import type { Brand } from './brand.ts'

export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/

/** An account or contract in EIP-55 form, so that two of them are the same account exactly when `===` says so. */
export type Address = Brand<`0x${string}`, 'Address'>

/** Accepts any case, also a wrong checksum, as the interface does; `undefined` when it is no address. */
export function parseAddress(text: string): Address | undefined {
  return ADDRESS_PATTERN.test(text) ? (getAddress(text) as Address) : undefined
}
