import { parseDecimal, parseOrderId, type Decimal, type OrderId } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { MalformedEnvelope } from '../signing/envelope.ts'

// Readers for fields of actions. Each throws a `MalformedEnvelope` that names the path of the wrong field.

type JsonObject = Readonly<Record<string, JsonValue>>

const CLOID_PATTERN = /^0x[0-9a-fA-F]{32}$/

export function objectAt(value: JsonValue | undefined, path: string): JsonObject {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  throw new MalformedEnvelope(`${path} must be an object.`)
}

export function listAt(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  throw new MalformedEnvelope(`${path} must be a list.`)
}

export function booleanAt(value: JsonValue | undefined, path: string): boolean {
  if (typeof value === 'boolean') return value
  throw new MalformedEnvelope(`${path} must be true or false.`)
}

export function integerAt(value: JsonValue | undefined, path: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new MalformedEnvelope(`${path} must be a whole number.`)
}

/** Reads an asset id: the index of a coin in the universe. */
export function assetAt(value: JsonValue | undefined, path: string): number {
  const asset = integerAt(value, path)
  if (asset >= 0) return asset
  throw new MalformedEnvelope(`${path} must be an asset id.`)
}

/** Reads a price or a size. Its range is checked with the order it belongs to. */
export function decimalAt(value: JsonValue | undefined, path: string): Decimal {
  const decimal = typeof value === 'string' ? parseDecimal(value) : undefined
  if (decimal !== undefined) return decimal
  throw new MalformedEnvelope(`${path} must be a decimal number as text.`)
}

/** Reads a client order id, and returns it in lower case. */
export function cloidAt(value: JsonValue | undefined, path: string): string {
  if (typeof value === 'string' && CLOID_PATTERN.test(value)) return value.toLowerCase()
  throw new MalformedEnvelope(`${path} must be 0x and 32 hex digits.`)
}

/** Reads an order id; `undefined` for a number that no order can have. */
export function oidAt(value: JsonValue | undefined, path: string): OrderId | undefined {
  return parseOrderId(String(integerAt(value, path)))
}
