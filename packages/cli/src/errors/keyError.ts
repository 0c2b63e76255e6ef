import { CliError } from './cliError.ts'
import { EXIT_CODES } from './exitCodes.ts'

/** A key is missing, malformed or can't be unlocked. Its message never holds the key. */
export class KeyError extends CliError {
  override readonly name = 'KeyError'

  constructor(message: string) {
    super('KEYS', EXIT_CODES.unsafe, message)
  }
}
