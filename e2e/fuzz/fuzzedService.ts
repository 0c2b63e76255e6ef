import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { scanOutput, secretsOfChain, secretsOfSettings } from '@bezel/testkit/scanOutput.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'

/** The service, with its output kept. */
export interface FuzzedService {
  readonly url: string
  /** Returns the output but for lines below the level of errors. There is none as long as nothing fails. */
  printed(): string
  hasEnded(): boolean
  /** Returns the resident memory in bytes; `undefined` where it can't be read. */
  residentBytes(): number | undefined
  /** Stops it. Throws when it has written a secret. */
  stop(): Promise<void>
}

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url)
/** Lines of the log below the level of errors. */
const BELOW_ERROR = /^\{"level":[1-4]0,/
const READY_POLL_MS = 50
const READY_MS = 120_000
/** The settings: no limit but that on prepared orders, which expire while the fuzz runs. */
const SETTINGS = {
  PORT: '0',
  // Every answer is a line in which secrets are looked for.
  LOG_LEVEL: 'info',
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_REGISTRATION_LIMIT: '1000000',
  BEZEL_OVERLOAD_PERCENT: '0',
  BEZEL_CONNECTIONS_PER_IP: '100000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_MAX_PREPARED_ORDERS: '5',
  BEZEL_PREPARED_MARKET_MS: '3000',
  BEZEL_PREPARED_RESTING_MS: '5000',
}

export async function startFuzzedService(devnet: RunningDevnet): Promise<FuzzedService> {
  const BEZEL_RELAYER_KEY = devnet.file.accounts.find(({ name }) => name === 'relayer')!.privateKey
  const env = { ...process.env, ...SETTINGS, BEZEL_DATA: devnet.folder, BEZEL_RELAYER_KEY }
  const child = fork(MAIN, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const lines: string[] = []
  const onLine = (line: string): void => void (BELOW_ERROR.test(line) || lines.push(line))
  const secrets = [...secretsOfSettings(env), ...secretsOfChain(devnet.file)]
  const output = scanOutput(child, { name: 'the service', secrets, onLine })
  const printed = (): string => lines.join('\n')
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url))
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${printed()}`)))
  })
  for (const endMs = Date.now() + READY_MS; (await fetch(`${url}/ready`)).status !== 200; await sleep(READY_POLL_MS)) {
    if (Date.now() > endMs) throw new Error(`the service did not become ready: ${printed()}`)
  }
  return {
    url,
    printed,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    residentBytes: () => residentBytesOf(child.pid!),
    async stop() {
      child.kill('SIGTERM')
      await exited
      await output.end()
    },
  }
}

function residentBytesOf(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}
