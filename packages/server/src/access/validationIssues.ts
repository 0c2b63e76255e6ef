import type { FastifySchemaValidationError } from 'fastify'
import { stepText } from '../json/cursor.ts'

/** One entry of `details.issues`. */
export interface ValidationIssue {
  /** `body.scope.markets[1]`. */
  readonly path: string
  readonly message: string
}

/** A body of 64 KB can break its schema in thousands of places; nobody reads on after these. */
const MAX_ISSUES = 20

/**
 * What is wrong with a request, one sentence for each place. A value that may be one of several things breaks the rules of each of
 * them: the first is told, or all the texts it could have been.
 */
export function validationIssues(errors: readonly FastifySchemaValidationError[], place: string): ValidationIssue[] {
  const byPath = Map.groupBy(errors, (error) => pathOf(error, place))
  return [...byPath].slice(0, MAX_ISSUES).map(([path, same]) => ({ path, message: messageOf(same) }))
}

/** A field that is missing or unknown is named itself, and not the object it would be in. */
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
  return first?.message ?? 'is not valid'
}

/** RFC 6901. */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
