import type { ApiError } from '@bezel/protocol'
import { MALFORMED_TEXT } from '../facade/info/malformedInfo.ts'

/** Whether a path is one of the exchange-shaped facade. */
export function isFacadePath(url: string): boolean {
  return url.startsWith('/hl/')
}

/**
 * What a client of the facade is told of a request that was refused: plain text, because some clients read every JSON of such an answer as
 * the exchange's own and fail at ours. What can't be read is 422.
 */
export function facadeRefusal({ code, status, message }: ApiError): { readonly status: number; readonly text: string } {
  return code === 'VALIDATION_ERROR' ? { status: 422, text: MALFORMED_TEXT } : { status, text: message }
}
