import { BezelError } from './bezelError.ts'

export type ConfigFault =
  | 'BAD_BASE_URL'
  | 'UNKNOWN_CHAIN'
  | 'NO_AGENT'
  | 'NO_CREDENTIALS'
  | 'NO_SENDER'
  | 'NO_TRADER'
  | 'WRONG_SENDER'
  | 'SIGNING_NAME_MISMATCH'

/** The client lacks what a call needs, or was given what does not fit together. Nothing was sent. */
export class BezelConfigError extends BezelError {
  override readonly name = 'BezelConfigError'
  override readonly code: ConfigFault

  constructor(code: ConfigFault, message: string) {
    super(code, message)
    this.code = code
  }
}
