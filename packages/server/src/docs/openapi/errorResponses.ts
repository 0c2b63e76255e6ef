import { ApiError, Closed, ERRORS, OneOf, RemedySchema, type ErrorCode } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { OpenapiAnswer, Ref } from './openapiDocument.ts'
import { facadeRefusal } from '../../access/answerError.ts'

/** The JSON body of every error. */
export const ErrorSchema = Closed(
  {
    code: OneOf(Object.keys(ERRORS) as ErrorCode[]),
    message: Type.String(),
    details: Type.Object(
      {
        remedy: RemedySchema,
        requestId: Type.String({ description: 'Id of the request, as in the header `x-request-id`.' }),
        docs: Type.String({ description: 'Path of the paragraph about the error in the served documentation.' }),
      },
      { additionalProperties: true },
    ),
  },
  {
    code: 'Stable code of the error: act on it.',
    message: 'The error in words, for people. It must not be matched.',
    details: 'The remedy, and the numbers and names that the message quotes, by the code of the error.',
  },
  { title: 'Error', description: 'The body of every error.' },
)

/** Collects the error answers of a document. An answer with a single code is a component named after the code. */
export interface ErrorResponses {
  /** Returns the error answers of an operation with these codes, by status. */
  describe(codes: readonly ErrorCode[]): ReadonlyMap<string, OpenapiAnswer | Ref>
  /** Returns the answers that were named so far, sorted by name. */
  components(): Readonly<Record<string, OpenapiAnswer>>
}

/** Statuses whose answers carry `Retry-After`. */
const RETRY_STATUSES: ReadonlySet<number> = new Set([429, 503])

export function createErrorResponses(): ErrorResponses {
  const named = new Map<ErrorCode, OpenapiAnswer>()

  function describeStatus(status: number, codes: readonly ErrorCode[]): OpenapiAnswer | Ref {
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

/** Returns the refusals of the facade by status. They are plain text, for people. */
export function describeRefusals(codes: readonly ErrorCode[]): ReadonlyMap<string, OpenapiAnswer> {
  return new Map(codes.map((code) => [String(facadeRefusal(new ApiError(code, '')).status), refusal(code)]))
}

/** Returns an answer with the common shape of errors, narrowed to these codes. */
function errorResponse(status: number, codes: readonly ErrorCode[]): OpenapiAnswer {
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] }
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join('\n\n'),
    ...(RETRY_STATUSES.has(status) ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } } : {}),
    content: { 'application/json': { schema } },
  }
}

function refusal(code: ErrorCode): OpenapiAnswer {
  const headers = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
  return {
    description: ERRORS[code].when,
    ...(code === 'RATE_LIMITED' ? { headers } : {}),
    content: { 'text/plain': { schema: { type: 'string' } } },
  }
}
