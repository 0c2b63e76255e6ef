import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { secretsIn, secretsOfSettings } from '@bezel/testkit/scanOutput.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../bench/measure/median.ts'

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url)
const SETTLE = new URL('./settle.ts', import.meta.url)
const READY_POLL_MS = 50
const ERROR_LEVEL = 50
const LOOKS = 5
const LOOK_PAUSE_MS = 100

/** The memory in bytes, after a full garbage collection. */
export interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
}

/** The real service in a process of its own, whose complaints are all recorded. */
export interface MeasuredService {
  readonly url: string
  /** Log lines of level `error` and above, and output that is not a log line. */
  readonly complaints: readonly string[]
  /** Returns the memory: the medians of several readings, or a single one. */
  memory(looks?: number): Promise<Memory>
  ready(): Promise<void>
  stop(): Promise<void>
}

/** Starts the service. Resolves when it listens. */
export async function startMeasuredService(settings: Readonly<Record<string, string>>): Promise<MeasuredService> {
  const env = { ...process.env, PORT: '0', LOG_LEVEL: 'warn', ...settings }
  const execArgv = ['--expose-gc', '--import', SETTLE.href]
  const child = fork(MAIN, { env, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const complaints: string[] = []
  const secrets = secretsOfSettings(settings)
  for (const output of [child.stdout!, child.stderr!]) {
    createInterface(output).on('line', (line) => {
      const [secret] = secretsIn(line, secrets)
      if (secret !== undefined) complaints.push(`the service wrote ${secret}`)
      else if (isComplaint(line)) complaints.push(line)
    })
  }
  let isEnding = false
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!isEnding) complaints.push(`the service ended by itself with ${code ?? signal}`)
      resolve()
    })
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url))
    void exited.then(() => reject(new Error(complaints.join('\n'))))
  })

  async function settled(): Promise<Memory> {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(120_000) })
    child.send('settle')
    return (await answer)[0] as Memory
  }

  return {
    url,
    complaints,
    async memory(looks = LOOKS) {
      const samples: Memory[] = []
      while (samples.length < looks) {
        samples.push(await settled())
        await sleep(LOOK_PAUSE_MS)
      }
      const middle = (of: keyof Memory): number => median(samples.map((sample) => sample[of]))
      return { rss: middle('rss'), heapUsed: middle('heapUsed'), external: middle('external') }
    },
    async ready() {
      while ((await fetch(`${url}/ready`)).status !== 200) await sleep(READY_POLL_MS)
    },
    async stop() {
      isEnding = true
      child.kill('SIGTERM')
      await exited
    },
  }
}

function isComplaint(line: string): boolean {
  const level = /^\{"level":(\d+)/.exec(line)?.[1]
  return level === undefined || Number(level) >= ERROR_LEVEL
}
