import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningProgram } from '@bezel/protocol'
import { readServerConfig } from '../../packages/server/src/settings/config.ts'
import { run } from '../../packages/server/src/run.ts'
import { until } from '@bezel/testkit/until.ts'
import type { DevnetFile } from '@bezel/testkit/startDevnet.ts'

export const CHAIN = 'arbitrum-sepolia'

/** An answer of the service. */
export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** The service in this process, on a free port. */
export interface MarketService {
  readonly url: string
  get<Body>(path: string): Promise<Answer<Body>>
  close: RunningProgram['close']
}

export interface Addresses {
  readonly rpcUrl: string
  readonly feedUrl: string
}

/** Starts the service on its own data folder, with node and feed at the given addresses. */
export async function startMarketService(file: DevnetFile, at: Addresses, folder: string): Promise<MarketService> {
  const chainsFile = join(folder, 'chains.json')
  const chains = { [CHAIN]: { ...file.chains[CHAIN], rpcUrl: at.rpcUrl } }
  writeFileSync(chainsFile, JSON.stringify({ chains, feedUrl: at.feedUrl }))
  const config = readServerConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    BEZEL_DATA: join(folder, 'service'),
    BEZEL_CHAINS_FILE: chainsFile,
    BEZEL_IP_LIMIT: '1000000',
    BEZEL_MARKETS_REFRESH_MS: '200',
    BEZEL_MARKET_STATUS_MS: '100',
    // A slow machine is no attack.
    BEZEL_OVERLOAD_PERCENT: '0',
  })
  const { url, close } = await run(config)
  return {
    url,
    close,
    async get<Body>(path: string) {
      const answer = await fetch(url + path)
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Body }
    },
  }
}

export function untilReady(service: MarketService): Promise<boolean> {
  return until('the service is ready', async () => (await service.get('/ready')).status === 200)
}
