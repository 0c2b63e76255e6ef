import { ERRORS, type ErrorCode } from '@bezel/protocol/wire'
import { BezelApiError, ClockSkewError, BezelNetworkError } from '../errors/serviceErrors.ts'
import { BezelError } from '../errors/bezelError.ts'

/** Returns a refusal on the stream as the error that the same refusal of a request would be. */
export function streamError(code: string, message: string): BezelApiError {
  const status = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].status : 500
  const refusal = { code, message, status }
  return code === 'TIMESTAMP_OUT_OF_WINDOW' ? new ClockSkewError(refusal, undefined) : new BezelApiError(refusal)
}

/**
 * Returns true when a retry may succeed. An address that is no Bezel service stays none, but a proxy in front of a
 * stopped service may recover.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof BezelNetworkError && error.code === 'UNEXPECTED_RESPONSE') return (error.status ?? 0) >= 500
  return error instanceof BezelError && error.retryable
}

/** Creates the error for a service that could not be reached in the allowed number of attempts. */
export function connectionLost(url: string, what: string): BezelNetworkError {
  return new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url, what })
}
