import { invalidParams } from './rpcError.ts'

export type Hex = `0x${string}`

/** A number as JSON-RPC writes it. */
export function toQuantity(value: number): Hex {
  return `0x${value.toString(16)}`
}

/** A value as one 32-byte word. */
export function toWord(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** Reads a whole number given as a JSON number, a hex quantity or a decimal text. */
export function parseQuantity(value: unknown, name: string): number {
  const isText = typeof value === 'string' && /^(0x[0-9a-fA-F]+|\d+)$/.test(value)
  const number = typeof value === 'number' || isText ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number) || number < 0) {
    throw invalidParams(`${name} must be a whole number or a hex quantity, not ${JSON.stringify(value) ?? 'nothing'}`)
  }
  return number
}
