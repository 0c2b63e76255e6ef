/** Why a program can't start or go on, in one sentence that says what to do. Printed without a stack: it is no bug. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
}

/** A failed start whose sentence is on the screen already, because a child process printed it. */
export class ToldStartupError extends StartupError {
  override readonly name = 'ToldStartupError'
}

/** What to print when a program failed: its sentence, nothing when it was told already, or the stack of what must be a bug. */
export function startupFailureText(error: unknown): string {
  if (error instanceof ToldStartupError) return ''
  if (error instanceof StartupError) return `${error.message}\n`
  return `Bezel failed because of a bug: ${error instanceof Error ? error.stack : String(error)}\n`
}
