import { nodeVersionProblem } from './nodeVersion.ts'
import { StartupError, startupFailureText } from './startupError.ts'

/** A program that has started. */
export interface RunningProgram {
  /** Where it answers. */
  readonly url: string
  /** Finishes what is under way and gives everything back. Called at most once. */
  readonly close: () => Promise<void>
  /** Rejects when the program can't go on. By then it has given everything back. */
  readonly failed?: Promise<never>
}

/** The part of node's `process` that the life of a program needs; handed in, so that it can be tested without one. */
export interface ProgramHost {
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly ppid: number
  readonly stderr: { write(text: string): unknown }
  readonly send?: ((message: unknown) => unknown) | undefined
  on(event: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'disconnect', listener: () => void): unknown
  exit(code: number): void
}

/** How often a program that npm started looks whether npm is still there. */
const LAUNCHER_POLL_MS = 500

/**
 * The life of every program of Bezel. A failed start is one sentence and exit code 1. SIGINT, SIGTERM, SIGHUP or, as a child, the loss
 * of its parent stop it with exit code 0; a second signal stops it at once. A child sends its parent `{type: 'ready', url}` and leaves
 * Ctrl-C to it, because a terminal sends that to both and the parent stops its children in order.
 *
 * `start` may give up when `stop` aborts by throwing its reason.
 */
export async function runProgram(
  host: ProgramHost,
  start: (stop: AbortSignal) => Promise<RunningProgram>,
): Promise<void> {
  const stop = stopSignal(host)
  try {
    refuseOldNode(host.version)
    const program = await start(stop)
    host.send?.({ type: 'ready', url: program.url })
    await Promise.race([aborted(stop), ...(program.failed === undefined ? [] : [program.failed])])
    await program.close()
    host.exit(0)
  } catch (error) {
    const wasToldToStop = stop.aborted && error === stop.reason
    if (!wasToldToStop) host.stderr.write(startupFailureText(error))
    host.exit(wasToldToStop ? 0 : 1)
  }
}

function stopSignal(host: ProgramHost): AbortSignal {
  const controller = new AbortController()
  const stop = (): void => (controller.signal.aborted ? host.exit(1) : controller.abort())
  const isChild = host.send !== undefined
  host.on('SIGINT', isChild ? () => undefined : stop)
  host.on('SIGTERM', stop)
  host.on('SIGHUP', stop)
  host.on('disconnect', () => controller.abort())
  if (!isChild) onLauncherGone(host, () => controller.abort())
  return controller.signal
}

/** npm and the shell between it and us end at a signal without passing it on; without this we would be left behind. */
function onLauncherGone(host: ProgramHost, gone: () => void): void {
  if (host.env.npm_lifecycle_event === undefined) return
  const launcher = host.ppid
  setInterval(() => host.ppid === launcher || gone(), LAUNCHER_POLL_MS).unref()
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  else signal.addEventListener('abort', () => resolve(), { once: true })
  return promise
}

function refuseOldNode(version: string): void {
  const problem = nodeVersionProblem(version)
  if (problem !== undefined) throw new StartupError(problem)
}
