import { ApiError, ERRORS, type ErrorCode } from '@bezel/protocol'
import { facadeRefusal } from '../../access/facadeRefusal.ts'
import type { JsonObject } from './schemaDescriber.ts'

/** What the facade refuses, by status: plain text, for people. */
export function describeRefusals(codes: readonly ErrorCode[]): ReadonlyMap<string, JsonObject> {
  return new Map(codes.map((code) => [String(facadeRefusal(new ApiError(code, '')).status), refusal(code)]))
}

function refusal(code: ErrorCode): JsonObject {
  const headers = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
  return {
    description: ERRORS[code].when,
    ...(code === 'RATE_LIMITED' ? { headers } : {}),
    content: { 'text/plain': { schema: { type: 'string' } } },
  }
}
