import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import {
  authorization,
  call,
  keyIssue,
  revocation,
  send,
  signedHeaders,
  type Answer,
} from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import type { PrivateKeyAccount } from 'viem/accounts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { authenticate, openStream, subscribeTo, type StreamClient } from '../stream/streamClient.ts'

const CHAIN = 'arbitrum-sepolia'
const CHAIN_PATH = `/v1/${CHAIN}`
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const SETTINGS = { BEZEL_IP_LIMIT: '1000000', BEZEL_AGENT_LIMIT: '1000000', LOG_LEVEL: 'silent' }

/** The answer of a node, asked for with what another answer included. */
type Ask = (path: string, operation: string, earlier?: Answer) => Promise<Answer>

describe('two nodes on one database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-nodes-'))
  const streams: StreamClient[] = []
  let server: RunningPostgres
  let devnet: RunningDevnet
  let chain: ChainClient
  let nodes: readonly RunningService[] = []
  let domain: SigningDomain

  before(async () => {
    installPostgres()
    server = await startPostgres()
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
    chain = createChainClient(devnet.file)
    const settings = {
      ...SETTINGS,
      DATABASE_URL: await server.createDatabase('nodes'),
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    }
    nodes = await Promise.all(
      ['a', 'b'].map((name) => startService(devnet, { ...settings, BEZEL_DATA: join(folder, name) })),
    )
    await chain.control('bezel_freezePrice', 'BTC/USD', true)
    for (const { url } of nodes) await movePrice({ chain, url: () => url }, 'BTC/USD', '60000')
    domain = (await call(urlOf(0), CHAIN_PATH)).body.signing.domain
  })
  after(async () => {
    for (const stream of streams) stream.cut()
    await Promise.all(nodes.map((node) => node.stop()))
    await devnet?.stop()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const urlOf = (node: number): string => nodes[node]!.url

  /** Returns a function that reads the trader's account at a node, signed by the agent. */
  const askAt =
    (node: number, trader: PrivateKeyAccount, agent: PrivateKeyAccount): Ask =>
    (path, operation, earlier) =>
      untilSettled(async () => {
        const full = `${CHAIN_PATH}/account/${trader.address}${path}`
        const headers = await signedHeaders(domain, agent, { operation, method: 'GET', path: full })
        return call(urlOf(node), full, { headers: { ...headers, ...afterOf(earlier) } })
      }, BUSY)

  const afterOf = (earlier: Answer | undefined): Record<string, string> =>
    earlier === undefined ? {} : { 'x-service-after': earlier.headers.get('x-service-commit') ?? 'none' }

  async function register(node: number, trader: PrivateKeyAccount, agent: PrivateKeyAccount): Promise<Answer> {
    const answer = await untilSettled(
      async () => send(urlOf(node), 'POST', `${CHAIN_PATH}/agents`, await authorization(domain, trader, agent)),
      BUSY,
    )
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    await chain.send(trader, 'setTradingDelegate', [agent.address])
    return answer
  }

  const clientAt = (node: number, trader: PrivateKeyAccount, agent: PrivateKeyAccount): Promise<TradingClient> =>
    createTradingClient({ devnet, chain, url: () => urlOf(node) }, trader, agent)

  it('know an agent that was registered at the other, also one that they were asked about before', async () => {
    const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
    const ask = askAt(1, trader, agent)
    assert.equal((await ask('/positions', 'listPositions')).body.code, 'AGENT_UNKNOWN')
    const registered = await register(0, trader, agent)
    assert.match(registered.headers.get('x-service-commit') ?? '', new RegExp(`^${CHAIN}:\\d+$`))
    assert.equal((await ask('/positions', 'listPositions', registered)).status, 200)
  })

  it('end an agent and its sockets that were revoked at the other', async () => {
    const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
    const ask = askAt(1, trader, agent)
    const stream = await openStream(urlOf(1))
    streams.push(stream)
    await authenticate(stream, domain, agent)
    const revoked = await untilSettled(async () =>
      send(
        urlOf(0),
        'DELETE',
        `${CHAIN_PATH}/agents/${agent.address}`,
        await revocation(domain, trader, agent.address),
      ),
    )
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
    assert.equal((await ask('/positions', 'listPositions', revoked)).body.code, 'AGENT_REVOKED')
    stream.send({ op: 'subscribe', channel: 'orders' })
    const refused = await stream.next('a refusal', ({ op, code }) => op === 'error' && code === 'AGENT_REVOKED')
    assert.ok(refused)
  })

  it('end an API key that was replaced at the other', async () => {
    const [trader, agent] = [chain.account('trader-2'), chain.account('agent-2')]
    await register(0, trader, agent)
    const issue = (): Promise<Answer> =>
      untilSettled(async () => send(urlOf(0), 'POST', `${CHAIN_PATH}/api-keys`, await keyIssue(domain, trader, 'bot')))
    const path = `${CHAIN_PATH}/account/${trader.address}/positions`
    const read = (issued: Answer, key: string): Promise<Answer> =>
      untilSettled(() => call(urlOf(1), path, { headers: { 'x-service-api-key': key, ...afterOf(issued) } }), BUSY)
    const first = await issue()
    assert.equal((await read(first, first.body.apiKey)).status, 200)
    const second = await issue()
    assert.equal((await read(second, first.body.apiKey)).body.code, 'API_KEY_UNKNOWN')
    assert.equal((await read(second, second.body.apiKey)).status, 200)
  })

  it('show orders, positions and events of the other', async () => {
    const [trader, agent] = [chain.account('trader-3'), chain.account('agent-3')]
    await register(0, trader, agent)
    const [at0, ask] = [await clientAt(0, trader, agent), askAt(1, trader, agent)]
    const stream = await openStream(urlOf(1))
    streams.push(stream)
    await authenticate(stream, domain, agent)
    await subscribeTo(stream, 'orders')
    const { id } = await at0.trade(MARKET, 'filled')
    await stream.next(
      'the fill',
      ({ channel, data }) => channel === 'orders' && data?.id === id && data.status === 'filled',
    )
    const shown = await askAt(0, trader, agent)('/positions', 'listPositions')
    const there = await ask('/positions', 'listPositions', shown)
    assert.equal(there.body.data.length, 1)
    assert.deepEqual(idsOf(there), idsOf(shown))
    const path = `/positions/${idsOf(shown)[0]}/close`
    const closed = await untilSettled(() => at0.request('closePosition', 'POST', path, {}), BUSY)
    assert.equal(closed.status, 200, JSON.stringify(closed.body))
    await at0.broadcast(closed.body.transaction)
    await until('both are flat', async (saw) => {
      const answers = await Promise.all([
        askAt(0, trader, agent)('/positions', 'listPositions'),
        ask('/positions', 'listPositions'),
      ])
      saw(answers.map(({ body }) => body))
      return answers.every(({ body }) => body.data.length === 0)
    })
  })

  it('refuse what no node has committed, and what is no commit', async () => {
    const [trader, agent] = [chain.account('trader-3'), chain.account('agent-3')]
    const full = `${CHAIN_PATH}/account/${trader.address}/positions`
    const asked = async (value: string): Promise<Answer> => {
      const headers = await signedHeaders(domain, agent, { operation: 'listPositions', method: 'GET', path: full })
      return call(urlOf(1), full, { headers: { ...headers, 'x-service-after': value } })
    }
    const ahead = await asked(`${CHAIN}:999999999`)
    assert.deepEqual([ahead.status, ahead.body.code, ahead.body.details.reason], [503, 'NOT_READY', 'store_lagging'])
    assert.equal((await asked('soon')).body.code, 'VALIDATION_ERROR')
    assert.equal((await untilSettled(() => asked('polygon:999999999'), BUSY)).status, 200)
  })
})

function idsOf({ body }: Answer): string[] {
  return (body.data as { readonly id: string }[]).map(({ id }) => id)
}
