import { MARKET_SYMBOL_PATTERN } from '@bezel/protocol'
import type { FastifySchemaValidationError } from 'fastify'
import { stepText } from '../json/parseStrictJson.ts'

/** One entry of `details.issues`. */
export interface ValidationIssue {
  /** Path of the value, such as `body.scope.markets[1]`. */
  readonly path: string
  readonly message: string
}

/** The most issues in one answer. A body of 64 KB can break its schema in thousands of places. */
const MAX_ISSUES = 20

/**
 * Returns the issues of a request, one sentence per place. A value of a union type breaks the rules of each
 * alternative; the message names the first broken rule, or all allowed texts.
 */
export function validationIssues(errors: readonly FastifySchemaValidationError[], place: string): ValidationIssue[] {
  const byPath = Map.groupBy(errors, (error) => pathOf(error, place))
  return [...byPath].slice(0, MAX_ISSUES).map(([path, same]) => ({ path, message: messageOf(same) }))
}

/** Returns the path of the field itself when it is missing or unknown, and not that of its object. */
function pathOf({ instancePath, params }: FastifySchemaValidationError, place: string): string {
  const steps = instancePath.split('/').slice(1).map(unescapePointer)
  const field = params.missingProperty ?? params.additionalProperty
  return [...steps, ...(typeof field === 'string' ? [field] : [])].reduce<string>(
    (path, step) => path + stepText(/^\d+$/.test(step) ? Number(step) : step),
    place,
  )
}

function messageOf(errors: readonly FastifySchemaValidationError[]): string {
  const choices = errors.filter(({ keyword }) => keyword === 'const').map(({ params }) => params.allowedValue)
  if (choices.length > 0) return `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  const [first] = errors
  if (first?.keyword === 'required') return 'is missing'
  if (first?.keyword === 'additionalProperties') return 'is not known'
  if (first?.params.pattern === MARKET_SYMBOL_PATTERN.source) return 'must be spelled like BTC/USD, in capitals'
  return first?.message ?? 'is not valid'
}

/** Undoes the escapes of a JSON pointer (RFC 6901). */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
