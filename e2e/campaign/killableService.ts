import { fork, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { secretsIn, secretsOfSettings } from '@bezel/testkit/scanOutput.ts'
import { setTimeout as sleep } from 'node:timers/promises'

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url)
const READY_POLL_MS = 20
const STAGE_POLL_MS = 5
const ERROR_LEVEL = 50

/** The real service on one port, which is killed and restarted under the same address. */
export interface KillableService {
  readonly url: string
  /** Lines that the service logged as errors, and exits that the test did not cause. */
  readonly complaints: readonly string[]
  start(): void
  /** Kills the service, as a crash does. */
  kill(): Promise<void>
  /** Stops the service cleanly, as an operator does. */
  stop(): Promise<void>
  /** Resolves when this process, or a later one, has reached the stage. Throws when there will be no other process. */
  once(stage: Stage): Promise<void>
  /** Returns true when this process has reached the stage. Throws when there will be no other process. */
  hasReached(stage: Stage): boolean
  /** The nodes of a service that has several, of which `kill` takes one. */
  readonly nodes?: readonly KillableService[]
  /** Kills it for good. */
  close(): Promise<void>
}

export type Stage = 'listening' | 'ready'

/** One process of the service. */
interface Life {
  readonly child: ChildProcess
  readonly exited: Promise<void>
  isEnding: boolean
}

export function createKillableService(port: number, settings: Readonly<Record<string, string>>): KillableService {
  const url = `http://127.0.0.1:${port}`
  const env = { ...process.env, PORT: String(port), LOG_LEVEL: 'error', BEZEL_OVERLOAD_PERCENT: '0', ...settings }
  const complaints: string[] = []
  const reached = new Set<Stage>()
  let life: Life | undefined
  /** The reason for which no other process will be started. */
  let end: string | undefined

  const complain = (line: string): void => void complaints.push(withoutSecret(line, settings))

  function begin(): Life {
    const child = fork(MAIN, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const begun: Life = { child, exited, isEnding: false }
    createInterface(child.stdout!).on('line', (line) => {
      if (isError(line)) complain(line)
    })
    createInterface(child.stderr!).on('line', complain)
    child.once('exit', (code, signal) => {
      if (begun.isEnding) return
      end = `the service ended by itself with ${code ?? signal}`
      complaints.push(end)
    })
    child.once('message', () => {
      if (life !== begun || begun.isEnding) return
      reached.add('listening')
      void watchReadiness(begun)
    })
    return begun
  }

  async function watchReadiness(begun: Life): Promise<void> {
    const isOver = (): boolean => life !== begun || begun.isEnding
    while (!isOver()) {
      const answer = await fetch(`${url}/ready`).catch(() => undefined)
      await answer?.arrayBuffer().catch(() => undefined)
      if (isOver()) return
      if (answer?.status === 200) return void reached.add('ready')
      await sleep(READY_POLL_MS)
    }
  }

  async function endLife(signal: NodeJS.Signals): Promise<void> {
    if (life === undefined) return
    const { child, exited } = life
    life.isEnding = true
    // Cleared before the signal, so that a client that sees the connection break waits for the next process.
    reached.clear()
    child.kill(signal)
    await exited
    life = undefined
  }

  function hasReached(stage: Stage): boolean {
    if (end !== undefined) throw new Error([end, ...complaints].join('\n'))
    return reached.has(stage)
  }

  return {
    url,
    complaints,
    start() {
      if (end !== undefined) throw new Error(end)
      life = begin()
    },
    kill: () => endLife('SIGKILL'),
    stop: () => endLife('SIGTERM'),
    once: (stage) => pollUntil(() => hasReached(stage)),
    hasReached,
    close() {
      end ??= 'the service is closed'
      return endLife('SIGKILL')
    },
  }
}

/** Returns a line of the output, or only what is in it when that is a secret. */
function withoutSecret(line: string, settings: Readonly<Record<string, string>>): string {
  const [secret] = secretsIn(line, secretsOfSettings(settings))
  return secret === undefined ? line : `the service wrote ${secret}`
}

/** Resolves when it is so. */
export async function pollUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(STAGE_POLL_MS)
}

/** True for log lines of level error and above, and for output that is not a log line. */
function isError(line: string): boolean {
  const level = /^\{"level":(\d+)/.exec(line)?.[1]
  return level === undefined || Number(level) >= ERROR_LEVEL
}
