import { ADDRESS_PATTERN, DECIMAL_PATTERN, HEX_PATTERN, MARKET_SYMBOL_PATTERN } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import { Errors, ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { stepText } from '../json/parseStrictJson.ts'

/** One entry of `details.issues`. */
export interface ValidationIssue {
  /** Path of the value, such as `body.scope.markets[1]`. */
  readonly path: string
  readonly message: string
}

/** The most issues in one answer. A body of 64 KB can break its schema in thousands of places. */
export const MAX_ISSUES = 20

/**
 * Returns the first issues of a value that breaks its schema, one sentence per place. The places are found one after
 * the other and the search ends with the last one that is told, so that a body costs no more the more faults it has.
 */
export function validationIssues(schema: TSchema, value: unknown, place: string): ValidationIssue[] {
  const messages = new Map<string, string>()
  for (const { path, message } of issuesOf(Errors(schema, value))) {
    const named = pathOf(path, place)
    if (!messages.has(named)) messages.set(named, message)
    if (messages.size === MAX_ISSUES) break
  }
  return [...messages].map(([path, message]) => ({ path, message }))
}

/** Finds the issues of errors; their paths are JSON pointers. */
function* issuesOf(errors: Iterable<ValueError>): Iterable<ValidationIssue> {
  for (const error of errors) {
    if (error.type === ValueErrorType.Union) yield* unionIssues(error)
    else yield { path: error.path, message: messageOf(error) }
  }
}

/**
 * Finds the issues of a value that fits none of several types: those inside it when it is of the right type outside,
 * else the texts that it could have been, else what the first type requires.
 */
function* unionIssues({ path, schema, errors }: ValueError): Iterable<ValidationIssue> {
  const firsts = errors.map((ofType) => ofType.First())
  const inside = firsts.findIndex((first) => (first?.path.length ?? 0) > path.length)
  // Taking the first error has used it up.
  if (inside !== -1) return yield* issuesOf(chain([firsts[inside]!], errors[inside]!))
  const choices = (schema.anyOf as readonly TSchema[]).flatMap(({ const: text }) => (text === undefined ? [] : [text]))
  const [first] = firsts
  if (choices.length === 0) return yield* issuesOf(first === undefined ? [] : [first])
  yield { path, message: `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}` }
}

function* chain<Item>(...parts: readonly Iterable<Item>[]): Iterable<Item> {
  for (const part of parts) yield* part
}

const TYPE_NAMES: Partial<Record<ValueErrorType, string>> = {
  [ValueErrorType.String]: 'string',
  [ValueErrorType.Integer]: 'integer',
  [ValueErrorType.Number]: 'number',
  [ValueErrorType.Boolean]: 'boolean',
  [ValueErrorType.Object]: 'object',
  [ValueErrorType.Array]: 'array',
  [ValueErrorType.Null]: 'null',
}

/** The patterns of the interface in words. */
const PATTERN_WORDS: Readonly<Record<string, string>> = {
  [MARKET_SYMBOL_PATTERN.source]: 'must be spelled like BTC/USD, in capitals',
  [DECIMAL_PATTERN.source]: 'must be a plain decimal such as "0.01", with a point: no comma, no exponent, no spaces',
  [ADDRESS_PATTERN.source]: 'must be 0x and 40 hex characters',
  [HEX_PATTERN.source]: 'must be 0x and hex characters',
}

function messageOf({ type, schema }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'is missing'
    case ValueErrorType.ObjectAdditionalProperties:
      return `is not known; the fields are ${Object.keys(schema.properties ?? {}).join(', ')}`
    case ValueErrorType.StringPattern:
      return PATTERN_WORDS[schema.pattern] ?? `must match pattern "${schema.pattern}"`
    case ValueErrorType.StringMaxLength:
      return `must NOT have more than ${schema.maxLength} characters`
    case ValueErrorType.StringMinLength:
      return `must NOT have fewer than ${schema.minLength} characters`
    case ValueErrorType.ArrayMaxItems:
      return `must NOT have more than ${schema.maxItems} items`
    case ValueErrorType.ArrayMinItems:
      return `must NOT have fewer than ${schema.minItems} items`
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be >= ${schema.minimum}`
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be <= ${schema.maximum}`
    case ValueErrorType.Literal:
      return `must be ${JSON.stringify(schema.const)}`
    default:
      return TYPE_NAMES[type] === undefined ? 'is not valid' : `must be ${TYPE_NAMES[type]}`
  }
}

/** Returns the path of a value from its JSON pointer (RFC 6901). */
function pathOf(pointer: string, place: string): string {
  const steps = pointer.split('/').slice(1).map(unescapePointer)
  return steps.reduce<string>((path, step) => path + stepText(/^\d+$/.test(step) ? Number(step) : step), place)
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
