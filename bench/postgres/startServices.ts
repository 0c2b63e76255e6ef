import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { run } from '../../packages/server/src/run.ts'
import { readServerConfig } from '../../packages/server/src/settings/config.ts'
import { NO_LIMITS, QUIET_SERVICE } from '../client/undisturbed.ts'

/** Added to the way to the server and to the way back, so that a round trip takes 0.5 ms longer. */
const DELAY_MS = 0.25

/** Orders that an agent may have prepared: more than are in flight. */
const PREPARED = { BEZEL_MAX_PREPARED_ORDERS: '100' }

/** A PostgreSQL server whose commits reach the disk, and a proxy before it. */
export interface Databases {
  /** Creates an empty database. Returns its address, on loopback and through the proxy. */
  create(name: string): Promise<{ readonly near: string; readonly far: string }>
  remove(): Promise<void>
}

export async function startDatabases(): Promise<Databases> {
  const server = await startPostgres({ isDurable: true })
  const proxy = fork(new URL('./delay.ts', import.meta.url), [String(server.port), String(DELAY_MS)])
  const [{ port }] = (await once(proxy, 'message')) as [{ port: number }]
  return {
    async create(name) {
      const near = await server.createDatabase(name)
      return { near, far: server.urlOf(name, port) }
    },
    async remove() {
      proxy.kill()
      await server.remove()
    },
  }
}

/** A service of this process. */
export interface BenchService {
  readonly url: string
  close(): Promise<void>
}

/** Starts the service on SQLite, or on the database with this address. */
export async function startService(devnet: RunningDevnet, databaseUrl?: string): Promise<BenchService> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const service = await run(
    readServerConfig({
      PORT: '0',
      LOG_LEVEL: 'warn',
      BEZEL_DATA: folder,
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ...NO_LIMITS,
      ...PREPARED,
      ...QUIET_SERVICE,
    }),
  )
  while ((await fetch(`${service.url}/ready`)).status !== 200) await new Promise((soon) => setTimeout(soon, 20))
  return {
    url: service.url,
    async close() {
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
