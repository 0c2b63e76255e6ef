/**
 * Makes writing to the output wait until it was taken. A test process reports to the runner through its output and
 * ends when its tests have ended; a busy runner would then never see the reports that were still on their way.
 */
interface BlockingStream {
  readonly _handle?: { setBlocking?(isBlocking: boolean): void }
}

const { _handle: pipe } = process.stdout as typeof process.stdout & BlockingStream
pipe?.setBlocking?.(true)
