import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { readServerConfig } from '../../packages/server/src/settings/config.ts'
import { run as runService } from '../../packages/server/src/run.ts'

/**
 * Starts the service in this process with a relayer, a local chain, a data folder of its own and no rate limits.
 * Answers do not wait for fills.
 */
export async function startFacadeService(
  devnet: RunningDevnet,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const service = await runService(
    readServerConfig({
      PORT: '0',
      LOG_LEVEL: 'warn',
      BEZEL_DATA: folder,
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
      BEZEL_RELAYER_KEY: devnet.file.accounts.find(({ name }) => name === 'relayer')!.privateKey,
      BEZEL_FACADE_FILL_WAIT_MS: '0',
      BEZEL_IP_LIMIT: '1000000',
      BEZEL_REGISTRATION_LIMIT: '1000000',
      BEZEL_OVERLOAD_PERCENT: '0',
      BEZEL_AGENT_LIMIT: '1000000',
      BEZEL_AGENT_WRITE_LIMIT: '1000000',
    }),
  )
  while ((await fetch(`${service.url}/ready`)).status !== 200) await new Promise((soon) => setTimeout(soon, 20))
  const close = async (): Promise<void> => {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { url: service.url, close }
}
