import type { Brand } from './brand.ts'

export const ORDER_ID_PATTERN = /^[1-9]\d{0,15}$/

/** Id of an order or a position: a decimal string that fits a 53-bit integer, because clients read it into a double. */
export type OrderId = Brand<string, 'OrderId'>

/** `undefined` when it is no id; sixteen digits can still be too large for 53 bits. */
export function parseOrderId(text: string): OrderId | undefined {
  return ORDER_ID_PATTERN.test(text) && Number.isSafeInteger(Number(text)) ? (text as OrderId) : undefined
}
