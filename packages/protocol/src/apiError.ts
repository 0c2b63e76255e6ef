import { ERRORS, type ErrorCode } from './errors.ts'

/** The JSON of every error answer. */
export interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** A refusal that reaches the client as it is: thrown anywhere, turned into an answer in one place. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message)
    this.code = code
    this.details = details
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  toBody(): ErrorBody {
    const { code, message, details } = this
    return details === undefined ? { code, message } : { code, message, details }
  }
}
