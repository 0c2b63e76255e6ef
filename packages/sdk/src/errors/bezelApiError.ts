import { ERRORS, type ErrorCode } from '@bezel/protocol/wire'
import { adviceFor } from './adviceFor.ts'
import { BezelError } from './bezelError.ts'

export interface ApiRefusal {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly status: number
  readonly requestId?: string | undefined
}

/** The service refused: `code` and `details` are its own, `requestId` finds the call in its log. */
export class BezelApiError extends BezelError {
  override readonly name: string = 'BezelApiError'
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined

  constructor(refusal: ApiRefusal, message = `${refusal.message} ${adviceFor(refusal.code)}`) {
    super(refusal.code, message, { retryable: isRetryable(refusal.code) })
    this.status = refusal.status
    this.details = refusal.details ?? {}
    this.requestId = refusal.requestId
  }
}

/** Whether an answer with this code says that nothing was done and that the same may be asked again. */
function isRetryable(code: string): boolean {
  return Object.hasOwn(ERRORS, code) && ERRORS[code as ErrorCode].retry === 'as_is'
}
