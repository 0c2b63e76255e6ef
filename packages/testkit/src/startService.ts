import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningDevnet } from './startDevnet.ts'

const MAIN = new URL('../../server/src/main.ts', import.meta.url)

const READY_POLL_MS = 50

export interface RunningService {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
  /** Kills the process, as a crash does. */
  kill(): Promise<void>
}

/**
 * Starts the real service in its own process, on a free port, over a devnet and its data folder. Resolves when it is
 * ready.
 */
export async function startService(
  devnet: RunningDevnet,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  const env = {
    ...process.env,
    PORT: '0',
    BEZEL_DATA: devnet.folder,
    BEZEL_RELAYER_KEY: relayerKeyOf(devnet),
    LOG_LEVEL: 'warn',
    ...settings,
  }
  const child = fork(MAIN, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url))
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
  while ((await fetch(`${url}/ready`)).status !== 200) await sleep(READY_POLL_MS)
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await exited
  }
  return { url, pid: child.pid!, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

/** Returns the relayer's key, as `npm start` passes it to the service. */
function relayerKeyOf({ file }: RunningDevnet): string {
  return file.accounts.find(({ name }) => name === 'relayer')!.privateKey
}
