import { stepText } from '../../json/cursor.ts'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { MalformedEnvelope } from './malformedEnvelope.ts'

/** Such keys come first in every JavaScript object, so the order they were sent in, and with it the hash, is lost. */
const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/

/**
 * Throws for what two programs hash differently: fractions, which no action has (amounts are strings); whole numbers that a double
 * can't hold exactly; keys that look like array indices. The parser has bounded the depth already.
 */
export function refuseUnsignable(value: JsonValue, path: string): void {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new MalformedEnvelope(`${path} must be a whole number within +-(2^53 - 1).`)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseUnsignable(item, path + stepText(index))
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (ARRAY_INDEX.test(key)) throw new MalformedEnvelope(`${path} has a key that is a number.`)
      refuseUnsignable(item, path + stepText(key))
    }
  }
}
