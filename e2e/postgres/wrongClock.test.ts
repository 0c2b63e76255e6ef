import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { UNLIMITED_SCOPE, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { shiftedClock } from '@bezel/testkit/shiftedClock.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'

const STEP_MS = 60_000

for (const stepMs of [STEP_MS, -STEP_MS]) {
  describe(`a node on PostgreSQL whose clock is stepped by ${stepMs / 1_000} s`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'bezel-clock-'))
    let server: RunningPostgres
    let devnet: RunningDevnet
    let service: RunningService
    let client: TradingClient

    before(async () => {
      installPostgres()
      server = await startPostgres()
      devnet = await startDevnet({ DEVNET_BLOCK_MS: '100' })
      service = await startService(devnet, {
        DATABASE_URL: await server.createDatabase('clock'),
        BEZEL_DATA: folder,
        BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
        ...shiftedClock({ stepMs }),
        LOG_LEVEL: 'silent',
      })
      const chain = createChainClient(devnet.file)
      const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
      const world = { devnet, chain, url: () => service.url }
      await authorize(world, trader, agent, UNLIMITED_SCOPE)
      client = await createTradingClient(world, trader, agent)
    })
    after(async () => {
      await service?.stop()
      await devnet?.stop()
      await server?.remove()
      rmSync(folder, { recursive: true, force: true })
    })

    const step = (): void => void process.kill(service.pid, 'SIGURG')
    const reasonOfReady = async (): Promise<unknown> => {
      const answer = await fetch(`${service.url}/ready`)
      const body = (await answer.json()) as { readonly chains: Record<string, { readonly reason?: string }> }
      return answer.ok ? 'ready' : Object.values(body.chains)[0]!.reason
    }
    const openOrders = (): Promise<Answer> => untilSettled(() => client.account('/orders', 'listOpenOrders'), BUSY)
    /** Returns the number of leases that were renewed within the last seconds, by the clock of the database. */
    const freshLeases = async (): Promise<string> => {
      const query = `select count(*) from leases where renewed_at > extract(epoch from clock_timestamp()) * 1000 - 2000`
      return (await server.psql('clock', query)).trim()
    }

    it('answers no signed request and leads nothing, until it is right again', async () => {
      assert.equal((await openOrders()).status, 200)
      step()
      await until('the step is seen', async () => (await reasonOfReady()) === 'clock')
      const refused = [
        await openOrders(),
        await client.request('cancelAllOrders', 'DELETE', '/orders'),
        await client.request('createOrder', 'POST', '/orders', { market: 'BTC/USD' }),
      ]
      assert.deepEqual(
        refused.map(({ status, body }) => [status, body.code, body.details?.reason]),
        refused.map(() => [503, 'NOT_READY', 'clock']),
      )
      assert.equal((await fetch(`${service.url}/health`)).status, 200)
      await until('markets are read', async () => (await fetch(`${service.url}/v1/arbitrum-sepolia/markets`)).ok)
      assert.equal(await reasonOfReady(), 'clock')
      await until('nothing is led', async () => (await freshLeases()) === '0')
      step()
      await until('it is ready again', async () => (await reasonOfReady()) === 'ready')
      assert.equal((await openOrders()).status, 200)
      await until('it leads again', async () => (await freshLeases()) !== '0')
    })
  })
}
