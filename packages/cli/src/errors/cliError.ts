import type { ExitCode } from './exitCodes.ts'

/** Ends the command with a sentence that says what to do, and an exit code. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  /** Stable, for `--json`. */
  readonly code: string
  readonly exitCode: ExitCode
  /** Shown as it is behind the sentence: usage of a command, for instance. */
  readonly more: string | undefined

  constructor(code: string, exitCode: ExitCode, message: string, more?: string) {
    super(message)
    this.code = code
    this.exitCode = exitCode
    this.more = more
  }
}
