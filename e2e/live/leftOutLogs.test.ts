import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { call } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { writeProviderChains } from '@bezel/testkit/live/providerChains.ts'
import { startStandInProvider, type StandInProvider } from '@bezel/testkit/live/standInProvider.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'

const SLUG = 'arbitrum-sepolia'

describe('a provider that leaves out logs, beside a well one', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let providers: readonly [StandInProvider, StandInProvider]
  const services: RunningService[] = []

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '250' })
    chain = createChainClient(devnet.file)
    const target = devnet.file.chains[SLUG]!.rpcUrl.replace(/\/$/, '')
    providers = [await startStandInProvider({ target }), await startStandInProvider({ target })]
  })
  after(async () => {
    for (const service of services) await service.stop()
    for (const provider of providers ?? []) await provider.close()
    await devnet?.stop()
  })

  /** Starts a service that waits as long between two looks as on a live chain. */
  async function start(name: string, withSockets: boolean): Promise<RunningService> {
    const chainsFile = writeProviderChains(devnet, providers, { name: `${name}.json`, withSockets })
    const settings = { BEZEL_DATA: join(devnet.folder, name), BEZEL_CHAINS_FILE: chainsFile, LOG_LEVEL: 'silent' }
    const service = await startService(devnet, settings)
    services.push(service)
    return service
  }

  for (const [part, withSockets, traderName] of [
    ['all', true, 'trader-1'],
    ['half', true, 'trader-2'],
    ['all', false, 'trader-1'],
    ['half', false, 'trader-2'],
  ] as const) {
    const by = withSockets ? 'pushed heads' : 'looks'
    it(`hides nothing that has to be corrected later: ${part} of them, by ${by}`, async () => {
      const { url } = await start(`${part}-${withSockets ? 'pushed' : 'asked'}`, withSockets)
      const of = { devnet, chain, url: () => url }
      const trader = chain.account(traderName)
      await authorize(of, trader, trader)
      const client = await createTradingClient(of, trader, trader)
      await providers[0].setFault({ kind: 'missingLogs', part })
      const market = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }
      await client.trade({ ...market, clientId: `${part}-${by.slice(0, 5)}-1` }, 'filled')
      await until('the provider is named', async (saw) => {
        const { body } = await call(url, '/ready')
        saw(body)
        return JSON.stringify(body).includes('left out logs that another provider has')
      })
      // The next look compares the last logs with a new answer, and finds nothing to correct.
      await client.trade({ ...market, side: 'short', clientId: `${part}-${by.slice(0, 5)}-2` }, 'filled')
      const { body } = await client.account('/events?limit=500', 'listEvents')
      const reverted = (body.data as { reverted: boolean }[]).filter((event) => event.reverted)
      assert.ok(body.data.length > 0)
      assert.deepEqual(reverted, [])
      await providers[0].setFault({ kind: 'none' })
    })
  }
})
