import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Hex } from 'viem'

const MAIN = new URL('../../devnet/src/main.ts', import.meta.url)

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
  const env = { ...process.env, DEVNET_PORT: '0', DEVNET_CHAINS: 'arbitrum-sepolia', BEZEL_DATA: data, ...settings }
  const child = fork(MAIN, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`the devnet ended with ${code}`)))
  })
  return {
    file: JSON.parse(readFileSync(join(data, 'devnet.json'), 'utf8')) as DevnetFile,
    folder: data,
    child,
    async stop() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
