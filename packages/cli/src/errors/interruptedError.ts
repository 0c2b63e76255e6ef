import { CliError } from './cliError.ts'
import type { ExitCode } from './exitCodes.ts'

/** The user stopped the command. The message says what is still open. */
export class InterruptedError extends CliError {
  override readonly name = 'InterruptedError'

  constructor(exitCode: ExitCode, message: string) {
    super('INTERRUPTED', exitCode, message)
  }
}
