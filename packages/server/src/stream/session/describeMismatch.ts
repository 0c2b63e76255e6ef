import type { TObject, TSchema } from '@sinclair/typebox'
import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { stepText } from '../../json/cursor.ts'

/** What is wrong with an object, in a sentence that names the field and what it may be. */
export function describeMismatch(schema: TObject, error: ValueError | undefined, root: string): string {
  if (error === undefined) return `${root} is not valid.`
  const path = root + error.path.split('/').slice(1).map(unescapePointer).map(stepText).join('')
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    return `${path} is not known; the fields are ${Object.keys(schema.properties).join(', ')}.`
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty) return `${path} is missing; it is ${allowed(error.schema)}.`
  return `${path} must be ${allowed(error.schema)}.`
}

function allowed({ anyOf, type, pattern, minimum, maximum, minLength, maxLength, const: only }: TSchema): string {
  if (Array.isArray(anyOf)) return `one of ${anyOf.map((choice: TSchema) => JSON.stringify(choice.const)).join(', ')}`
  if (only !== undefined) return JSON.stringify(only)
  if (pattern !== undefined) return `a string that matches ${pattern}`
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`
  return `a string of ${minLength} to ${maxLength} characters`
}

/** RFC 6901. */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
