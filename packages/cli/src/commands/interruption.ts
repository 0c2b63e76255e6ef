import { EXIT_CODES, type ExitCode, InterruptedError } from '../errors/cliError.ts'

/** Handling of Ctrl-C. A command tells it what would stay open as soon as there is something. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Sets the sentence that is shown if the user stops now: what stays open. */
  leaves(sentence: () => string): void
  /** Marks stopping as the normal end of this command, so that it exits with code 0. */
  endsWell(): void
  /** Sets what must be undone before anything is printed, however the command ends: the screen that it took over. */
  undoes(undo: () => void): void
  /** Undoes it. Can be called any number of times. */
  undo(): void
  /** Rejects when the user stops the command. */
  readonly stopped: Promise<never>
  /** Stops the command. The handler of the signal calls it. */
  stop(): void
}

const NOTHING_OPEN = 'Stopped.'

/** Creates the handling of Ctrl-C for one command. */
export function createInterruption(): Interruption {
  const controller = new AbortController()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  // Keeps an unhandled rejection away while nobody awaits the promise.
  stopped.catch(() => undefined)
  let exitCode: ExitCode = EXIT_CODES.interrupted
  let sentence = (): string => NOTHING_OPEN
  let undo = (): void => undefined
  return {
    signal: controller.signal,
    stopped,
    leaves(told) {
      sentence = told
    },
    endsWell() {
      exitCode = EXIT_CODES.ok
    },
    undoes(undoing) {
      undo = undoing
    },
    undo: () => undo(),
    stop() {
      controller.abort()
      reject(new InterruptedError(exitCode, sentence()))
    },
  }
}
