import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Account } from '@bezel/protocol'
import { call, send, signedHeaders, UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { createChainClient, patientHttp, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, domainOf, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import { createWalletClient, erc20Abi } from 'viem'
import { WebSocket } from 'ws'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { authenticate, openStream } from '../stream/streamClient.ts'

const CHAIN = 'arbitrum-sepolia'
const CHAIN_PATH = `/v1/${CHAIN}`
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
/** So long that no round comes during the test: what is new is told by commits, or not at all. */
const NEVER_MS = '600000'
const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_ACCOUNT_REFRESH_MS: NEVER_MS,
  BEZEL_MARKETS_REFRESH_MS: NEVER_MS,
  LOG_LEVEL: 'silent',
}

describe('a node that does not follow', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-elsewhere-'))
  let server: RunningPostgres
  let proxy: TcpProxy
  let devnet: RunningDevnet
  let chain: ChainClient
  /** The node that follows the chain. */
  let leader: RunningService
  /** The node that does not, which reaches the database through the proxy. */
  let other: RunningService
  let trader: TradingClient

  before(async () => {
    installPostgres()
    server = await startPostgres()
    await server.createDatabase('elsewhere')
    proxy = await startProxy(server.port)
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
    chain = createChainClient(devnet.file)
    leader = await startNode('leader', 'api,follower,relayer,keeper', server.urlOf('elsewhere'))
    other = await startNode('other', 'api', server.urlOf('elsewhere', proxy.port))
    await chain.control('bezel_freezePrice', 'BTC/USD', true)
    for (const { url } of [leader, other]) await movePrice({ chain, url: () => url }, 'BTC/USD', '60000')
    const [wallet, agent] = [chain.account('trader-1'), chain.account('agent-1')]
    await authorize({ chain, url: () => leader.url }, wallet, agent, UNLIMITED_SCOPE)
    trader = await createTradingClient({ devnet, chain, url: () => leader.url }, wallet, agent)
  })
  after(async () => {
    await Promise.all([leader?.stop(), other?.stop()])
    await devnet?.stop()
    await proxy?.close()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const startNode = (name: string, roles: string, database: string): Promise<RunningService> =>
    startService(devnet, {
      ...SETTINGS,
      DATABASE_URL: database,
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
      BEZEL_DATA: join(folder, name),
      BEZEL_ROLES: roles,
    })

  /** Reads the account of the trader at the node that does not follow. */
  async function accountThere(): Promise<Account> {
    const path = `${CHAIN_PATH}/account/${trader.trader.address}`
    const signed = { operation: 'getAccount', method: 'GET', path }
    const { status, body } = await untilSettled(async () => {
      const headers = await signedHeaders(await domainOf(other.url), trader.agent, signed)
      return call(other.url, path, { headers })
    }, BUSY)
    assert.equal(status, 200, JSON.stringify(body))
    return body as Account
  }

  /** Reads a number of the other node's metrics. */
  async function metricThere(name: string): Promise<number> {
    const text = await (await fetch(`${other.url}/metrics`)).text()
    const line = text.split('\n').find((one) => one.startsWith(`${name}{`) && one.includes(CHAIN))
    return Number(line?.split(' ').at(-1) ?? assert.fail(`there is no ${name}`))
  }

  const longsAt = async ({ url }: RunningService): Promise<string> =>
    (await call(url, `${CHAIN_PATH}/markets/BTC-USD/funding`)).body.openInterestLongUsd as string

  it('shows what a wallet did as soon as its block is followed', async () => {
    const usdcOf = ({ balances }: Account) => balances.find(({ collateral }) => collateral === 'USDC')!
    const then = usdcOf(await accountThere())
    const { address } = chain.collateral('USDC')
    const wallet = createWalletClient({
      account: trader.trader,
      transport: patientHttp(devnet.file.chains[CHAIN]!.rpcUrl),
    })
    const [spender, amount] = [devnet.file.chains[CHAIN]!.diamond, 777_000_000n]
    const approval = { address, abi: erc20Abi, functionName: 'approve', args: [spender, amount], chain: null }
    await wallet.writeContract(approval as never)
    assert.notEqual(then.allowance, '777')
    await until('the allowance is there', async (saw) => {
      const now = usdcOf(await accountThere())
      saw(now)
      return now.allowance === '777'
    })
  })

  it('has the markets that the blocks made, without reading them again', async () => {
    const reads = await metricThere('bezel_markets_reads_total')
    const then = await longsAt(other)
    await trader.trade({ ...MARKET, size: '0.01' }, 'filled')
    await until('both have the same open interest', async (saw) => {
      const longs = [await longsAt(leader), await longsAt(other)]
      saw(longs)
      return longs[0] === longs[1] && longs[1] !== then
    })
    assert.equal(await metricThere('bezel_markets_reads_total'), reads)
  })

  it('reads the markets once when their settings change', async () => {
    const reads = await metricThere('bezel_markets_reads_total')
    await chain.send(chain.account('deployer'), 'updateTradingActivated', [1])
    await until('they are read', async () => (await metricThere('bezel_markets_reads_total')) > reads)
    await chain.send(chain.account('deployer'), 'updateTradingActivated', [0])
    await until('they are read again', async () => (await metricThere('bezel_markets_reads_total')) > reads + 1)
    assert.equal(await metricThere('bezel_markets_reads_total'), reads + 2)
  })

  it('tells nothing of a user while it can not know what others committed, and goes on by itself', async () => {
    const user = trader.trader.address
    const info = () => send(other.url, 'POST', `/hl/${CHAIN}/info`, { type: 'clearinghouseState', user })
    assert.equal((await untilSettled(info, BUSY)).status, 200)
    const stream = await openStream(other.url)
    await authenticate(stream, await domainOf(other.url), trader.agent)
    const facade = await openFacade(other.url)
    proxy.hang()
    try {
      await until('it is too old', async () => (await info()).status === 503)
      assert.equal((await info()).body.details.reason, 'store_lagging')
      facade.send({ method: 'subscribe', subscription: { type: 'clearinghouseState', user } })
      await until('the facade refuses', () => facade.told.some(({ channel }) => channel === 'error'))
      stream.send({ op: 'subscribe', channel: 'positions' })
      await stream.next('a refusal', ({ op, code }) => op === 'error' && code === 'NOT_READY')
      await until(
        'public reads go on',
        async () => (await call(other.url, `${CHAIN_PATH}/markets/BTC-USD`)).status === 200,
      )
    } finally {
      proxy.resume()
    }
    await until('it is well again', async () => (await info()).status === 200)
    let refusals = -1
    await until('the facade tells', () => {
      const count = facade.told.filter(({ channel }) => channel === 'error').length
      if (count > refusals) facade.send({ method: 'subscribe', subscription: { type: 'clearinghouseState', user } })
      refusals = count
      return facade.told.some(({ channel }) => channel === 'clearinghouseState')
    })
    facade.close()
    stream.cut()
  })
})

/** A client of the facade's socket. */
async function openFacade(url: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/hl/${CHAIN}/ws`)
  const told: { readonly channel: string }[] = []
  socket.on('message', (bytes) => told.push(JSON.parse(String(bytes)) as { readonly channel: string }))
  await new Promise((opened) => socket.once('open', opened))
  return {
    told,
    send: (message: object) => socket.send(JSON.stringify(message)),
    close: () => socket.terminate(),
  }
}
