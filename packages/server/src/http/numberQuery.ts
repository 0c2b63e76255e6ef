import { ApiError } from '@bezel/protocol'
import type { ValidationIssue } from '../access/validationIssues.ts'

/** A whole number that a query may name. */
export interface NumberRange {
  readonly min: number
  readonly max: number
  readonly byDefault: number
}

const WHOLE_PATTERN = /^(?:0|[1-9]\d{0,15})$/

/** The whole numbers of a query, by their names, and no other parameters. Throws `VALIDATION_ERROR`. */
export function numberQuery<Name extends string>(
  query: Readonly<Record<string, unknown>>,
  ranges: Readonly<Record<Name, NumberRange>>,
): Record<Name, number> {
  const issues: ValidationIssue[] = Object.keys(query)
    .filter((name) => !Object.hasOwn(ranges, name))
    .map((name) => ({ path: `query.${name}`, message: 'is not a parameter of this operation' }))
  const entries = (Object.entries(ranges) as [Name, NumberRange][]).map(([name, range]) => {
    const value = query[name] === undefined ? range.byDefault : readNumber(query[name], range)
    if (value === undefined) issues.push({ path: `query.${name}`, message: sentence(range) })
    return [name, value]
  })
  if (issues.length > 0) throw new ApiError('VALIDATION_ERROR', 'The query parameters are not valid.', { issues })
  return Object.fromEntries(entries) as Record<Name, number>
}

/** A parameter that is given twice comes as an array. */
function readNumber(value: unknown, { min, max }: NumberRange): number | undefined {
  if (typeof value !== 'string' || !WHOLE_PATTERN.test(value)) return undefined
  const number = Number(value)
  return number >= min && number <= max ? number : undefined
}

function sentence({ min, max }: NumberRange): string {
  return `must be a whole number from ${min} to ${max}`
}
