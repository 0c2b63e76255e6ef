import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Hex } from 'viem'
import { testBlockMs } from './live/testProviders.ts'
import { within } from './until.ts'

const MAIN = new URL('../../devnet/src/main.ts', import.meta.url)
/** Settings of a short life: memory that is freed is kept for the next use, because returning it costs a third more. */
const SHORT_LIFE = { MIMALLOC_PURGE_DELAY: '2000' }

/** Time between blocks unless a story asks for another, which is also the local chain's own default. */
const DEFAULT_BLOCK_MS = '250'

/** Content of var/devnet.json. */
export interface DevnetFile {
  chains: Record<
    string,
    {
      chainId: number
      rpcUrl: string
      wsUrl: string
      diamond: Address
      collaterals: { symbol: string; index: number; address: Address; decimals: number }[]
    }
  >
  accounts: { name: string; address: Address; privateKey: Hex }[]
  baseUrl: string
  feedUrl: string
}

export interface RunningDevnet {
  file: DevnetFile
  folder: string
  child: ChildProcess
  stop(): Promise<void>
}

/** Starts the real devnet in its own process, on a free port and in a temporary folder. */
export async function startDevnet(settings: Record<string, string> = {}): Promise<RunningDevnet> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-e2e-'))
  const data = join(folder, 'data')
  const own = { DEVNET_PORT: '0', DEVNET_CHAINS: 'arbitrum-sepolia', BEZEL_DATA: data }
  const { DEVNET_BLOCK_MS = DEFAULT_BLOCK_MS } = settings
  const slowed = { DEVNET_BLOCK_MS: testBlockMs(DEVNET_BLOCK_MS) }
  const env = { ...SHORT_LIFE, ...process.env, ...own, ...settings, ...slowed }
  const child = fork(MAIN, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await untilStarted(child, 'the devnet')
  return {
    file: JSON.parse(readFileSync(join(data, 'devnet.json'), 'utf8')) as DevnetFile,
    folder: data,
    child,
    async stop() {
      await endChild(child, 'the devnet', 'SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits for the message by which a child says that it has started. Throws when it ends before. */
export async function untilStarted(child: ChildProcess, name: string): Promise<{ readonly url: string }> {
  return within(
    `the start of ${name}`,
    () =>
      new Promise((resolve, reject) => {
        child.once('message', (message) => resolve(message as { url: string }))
        child.once('exit', (code, signal) => reject(new Error(`${name} ended with ${code ?? signal}`)))
      }),
  )
}

/** Sends a signal to a child, and waits for its end. Kills one that does not end, and throws. */
export async function endChild(child: ChildProcess, name: string, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  try {
    await within(`the end of ${name} after ${signal}`, () => exited)
  } finally {
    child.kill('SIGKILL')
  }
}
