import { ERRORS, type ErrorCode } from '@bezel/protocol'
import type { JsonObject } from './schemaDescriber.ts'

/** The answers of errors of a document; those with one code are named after it and written once. */
export interface ErrorResponses {
  /** By status, for an operation that has these codes. */
  describe(codes: readonly ErrorCode[]): ReadonlyMap<string, JsonObject>
  /** Those that were named so far, sorted. */
  components(): JsonObject
}

/** These say when to come again. */
const RETRY_STATUSES: ReadonlySet<number> = new Set([429, 503])

export function createErrorResponses(): ErrorResponses {
  const named = new Map<ErrorCode, JsonObject>()

  function describeStatus(status: number, codes: readonly ErrorCode[]): JsonObject {
    const [only, ...others] = codes
    if (only === undefined || others.length > 0) return errorResponse(status, codes)
    named.set(only, errorResponse(status, codes))
    return { $ref: `#/components/responses/${only}` }
  }

  return {
    describe: (codes) =>
      new Map(
        [...Map.groupBy(codes, (code) => ERRORS[code].status)].map(([status, same]) => [
          String(status),
          describeStatus(status, same),
        ]),
      ),
    components: () => Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The shape of every error, narrowed to these codes. */
function errorResponse(status: number, codes: readonly ErrorCode[]): JsonObject {
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] }
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join('\n\n'),
    ...(RETRY_STATUSES.has(status) ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } } : {}),
    content: { 'application/json': { schema } },
  }
}
