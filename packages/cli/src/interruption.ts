import { EXIT_CODES, type ExitCode } from './errors/exitCodes.ts'
import { InterruptedError } from './errors/interruptedError.ts'

/** Ctrl-C. A command says what it would leave behind, as soon as there is something. */
export interface Interruption {
  readonly signal: AbortSignal
  /** What is still open if the user stops now. */
  leaves(sentence: () => string): void
  /** Stopping is the way this command ends. */
  endsWell(): void
  /** Rejects when the user stops the command. */
  readonly stopped: Promise<never>
  /** Called by the signal's handler. */
  stop(): void
}

const NOTHING_OPEN = 'Stopped.'

export function createInterruption(): Interruption {
  const controller = new AbortController()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  // Nobody may be listening at that moment.
  stopped.catch(() => undefined)
  let exitCode: ExitCode = EXIT_CODES.interrupted
  let sentence = (): string => NOTHING_OPEN
  return {
    signal: controller.signal,
    stopped,
    leaves(told) {
      sentence = told
    },
    endsWell() {
      exitCode = EXIT_CODES.ok
    },
    stop() {
      controller.abort()
      reject(new InterruptedError(exitCode, sentence()))
    },
  }
}
