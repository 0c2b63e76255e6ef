import { ERRORS, type ErrorCode } from '@bezel/protocol/wire'
import { BezelApiError } from '../errors/bezelApiError.ts'
import { BezelError } from '../errors/bezelError.ts'
import { BezelNetworkError } from '../errors/bezelNetworkError.ts'
import { ClockSkewError } from '../errors/clockSkewError.ts'

/** A refusal of the service on the stream, as the same refusal of a request would be. */
export function streamError(code: string, message: string): BezelApiError {
  const status = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].status : 500
  const refusal = { code, message, status }
  return code === 'TIMESTAMP_OUT_OF_WINDOW' ? new ClockSkewError(refusal, undefined) : new BezelApiError(refusal)
}

/** Whether the same may work a little later. What is no Bezel service now will be none then; a proxy in front of one that is away may be. */
export function isPassing(error: unknown): boolean {
  if (error instanceof BezelNetworkError && error.code === 'UNEXPECTED_RESPONSE') return (error.status ?? 0) >= 500
  return error instanceof BezelError && error.retryable
}

/** The service could not be reached as often as was allowed. */
export function connectionLost(url: string, what: string): BezelNetworkError {
  return new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url, what })
}
