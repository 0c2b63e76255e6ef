import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { KeyError } from '../errors/keyError.ts'

/** A private key from the environment. `name` is that of the variable; the complaint never repeats the value. */
export function parsePrivateKey(text: string, name: string): Hex {
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())?.[1]
  if (digits !== undefined && isOfCurve(`0x${digits}`)) return `0x${digits.toLowerCase()}`
  throw new KeyError(`${name} is no private key: it must be 64 hexadecimal digits, with or without 0x. Correct it.`)
}

/** Zero and numbers beyond the order of the curve are no keys. */
function isOfCurve(key: Hex): boolean {
  try {
    privateKeyToAccount(key)
    return true
  } catch {
    return false
  }
}
