import { CliError } from './cliError.ts'
import { EXIT_CODES } from './exitCodes.ts'

/** The command line is wrong. Nothing was sent. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'

  constructor(message: string, more?: string) {
    super('USAGE', EXIT_CODES.usage, message, more)
  }
}
