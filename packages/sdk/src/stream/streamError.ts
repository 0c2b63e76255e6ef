import { ERRORS, type ErrorCode } from '@bezel/protocol/wire'
import {
  BezelApiError,
  BezelNetworkError,
  ClockSkewError,
  docsAddress,
  type ApiRefusal,
} from '../errors/serviceErrors.ts'
import { BezelError } from '../errors/bezelError.ts'

/**
 * Returns a refusal on the stream as the error that the same refusal of a request would be. `url` is that of the
 * socket over which it came.
 */
export function streamError(
  { code, message, details }: Pick<ApiRefusal, 'code' | 'message' | 'details'>,
  url = '',
): BezelApiError {
  const status = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].status : 500
  const requestId = typeof details?.['requestId'] === 'string' ? details['requestId'] : undefined
  const baseUrl = url.replace(/^ws/, 'http').replace(/\/v1\/[^/]*\/ws$/, '')
  const refusal = { code, message, details, status, requestId, docs: docsAddress(baseUrl, details) }
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
