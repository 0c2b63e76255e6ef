import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { readServerConfig } from '../../packages/server/src/settings/config.ts'
import { run as runService } from '../../packages/server/src/run.ts'

/** A server on a port of this machine. */
export interface Server {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Starts the service in this process with a local chain, a data folder of its own and no rate limits. */
export async function startReadService(devnet: RunningDevnet): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const config = readServerConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    BEZEL_DATA: folder,
    BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    BEZEL_IP_LIMIT: '1000000',
    BEZEL_REGISTRATION_LIMIT: '1000000',
    BEZEL_OVERLOAD_PERCENT: '0',
    BEZEL_AGENT_LIMIT: '1000000',
  })
  const service = await runService(config)
  while ((await fetch(`${service.url}/ready`)).status !== 200) await new Promise((soon) => setTimeout(soon, 20))
  const close = async (): Promise<void> => {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { port: Number(new URL(service.url).port), close }
}
