/** What every error of this package is. Act on `code` or on the class; messages are for people and say what to do. */
export class BezelError extends Error {
  override readonly name: string = 'BezelError'
  /** Stable. */
  readonly code: string
  /** Whether the same call may be made again as it is, after a pause. */
  readonly retryable: boolean

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryable = options.retryable ?? false
  }
}
