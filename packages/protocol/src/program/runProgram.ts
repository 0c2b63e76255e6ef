/** A program that has started. */
export interface RunningProgram {
  /** Address at which it answers. */
  readonly url: string
  /** Finishes what is under way and releases everything. Called at most once. */
  readonly close: () => Promise<void>
  /** Rejects when the program can't continue. By then it has released everything. */
  readonly failed?: Promise<never>
}

/** The part of node's `process` that the life of a program needs, passed in so that tests need no process. */
export interface ProgramHost {
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly ppid: number
  readonly stderr: { write(text: string): unknown }
  readonly send?: ((message: unknown) => unknown) | undefined
  on(event: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'disconnect', listener: () => void): unknown
  exit(code: number): void
}

/** Interval at which a program that npm started checks that npm is still there. */
const LAUNCHER_POLL_MS = 500

/** Oldest major version of node that runs this source: it strips types and has the SQLite that the service needs. */
export const MIN_NODE_MAJOR = 24

/** Addresses that mean every interface. They can't be opened, so a URL names this machine instead. */
const WILDCARD_HOSTS: readonly string[] = ['0.0.0.0', '::']

/**
 * Runs a program of Bezel from start to exit. A failed start prints one sentence and exits with code 1. SIGINT,
 * SIGTERM, SIGHUP and, for a child, the loss of its parent stop it with code 0; a second signal stops it at once. A
 * child sends its parent `{type: 'ready', url}` and ignores Ctrl-C: a terminal sends it to both, and the parent stops
 * its children in order.
 *
 * `start` may give up when `stop` aborts, by throwing its reason.
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

/**
 * Calls `gone` when the launcher has ended. npm and its shell end at a signal without passing it on, and would leave
 * this process behind.
 */
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

/** Returns the sentence to print when `version` (`process.version`) is too old, otherwise `undefined`. */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1])
  if (major >= MIN_NODE_MAJOR) return undefined
  return `Bezel needs node ${MIN_NODE_MAJOR} or newer and this is ${version}: start it with npm (npm start, npm run serve), which brings its own node on Linux, or install node ${MIN_NODE_MAJOR}.`
}

/** Throws for any argument, for programs that only take settings and would ignore it. `argv` is node's. */
export function refuseArguments(argv: readonly string[]): void {
  const [, , argument] = argv
  if (argument === undefined) return
  throw new StartupError(
    `Unknown argument ${JSON.stringify(argument)}: this program takes settings from the environment, no arguments.`,
  )
}

/** Returns the URL at which this machine reaches a server that listens on `host` and `port`. */
export function httpUrl(host: string, port: number): string {
  const reachable = WILDCARD_HOSTS.includes(host) ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/**
 * The error for a program that can't start or continue, with a sentence that says what to do. Printed without a stack,
 * because it is no bug.
 */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
}

/** The error for a failed start whose sentence a child process has printed already. */
export class ToldStartupError extends StartupError {
  override readonly name = 'ToldStartupError'
}

/**
 * Returns the text to print for a failed program: its sentence, nothing if it was printed already, or the stack of a
 * bug.
 */
function startupFailureText(error: unknown): string {
  if (error instanceof ToldStartupError) return ''
  if (error instanceof StartupError) return `${error.message}\n`
  return `Bezel failed because of a bug: ${error instanceof Error ? error.stack : String(error)}\n`
}
