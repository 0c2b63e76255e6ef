import { fork } from 'node:child_process'
import { StartupError, ToldStartupError } from '@bezel/protocol'

/** Time for a child to stop before it is killed. */
const STOP_TIMEOUT_MS = 5_000

/**
 * A program of Bezel in a process of its own, tied to this one by a channel: when either end dies, the other notices.
 */
export interface ChildProgram {
  readonly name: string
  /** Resolves at its `ready` message; rejects when it ends before that. */
  readonly ready: Promise<void>
  /** Resolves when it has ended, with the cause (`exit code 1`, `signal SIGKILL`). */
  readonly ended: Promise<string>
  /** Asks it to stop, and kills it when it does not. Resolves when it has ended. */
  readonly stop: () => Promise<void>
}

/**
 * Starts `file`. Its output goes to our stderr, because our stdout is for the one line that other programs wait for.
 */
export function startChild(of: { name: string; file: URL; env: NodeJS.ProcessEnv }): ChildProgram {
  const child = fork(of.file, { env: of.env, stdio: ['ignore', 2, 2, 'ipc'] })
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  // A caller that stops everything at once never awaits `ready`.
  ready.promise.catch(() => undefined)
  child.on('message', (message) => {
    if ((message as { type?: unknown } | null)?.type === 'ready') ready.resolve()
  })
  child.once('exit', (code, signal) => {
    ended.resolve(code === null ? `signal ${signal}` : `exit code ${code}`)
    ready.reject(unreadyError(of.name, code, signal))
  })
  child.once('error', (error) => ready.reject(error))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await ended.promise
    clearTimeout(timer)
  }
  return { name: of.name, ready: ready.promise, ended: ended.promise, stop }
}

/** Returns the error of a child that ended before it was ready. With exit code 1 the child has printed the reason. */
function unreadyError(name: string, code: number | null, signal: string | null): StartupError {
  if (code === 1) return new ToldStartupError()
  const how = code === null ? `signal ${signal}` : `exit code ${code}`
  return new StartupError(`The ${name} ended before it was ready (${how}): see its messages above.`)
}
