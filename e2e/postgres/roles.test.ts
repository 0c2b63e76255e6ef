import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { call, UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { placeRelayed } from './relayedOrder.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  LOG_LEVEL: 'silent',
}
interface ReadLease {
  /** Role and chain. */
  readonly name: string
  readonly holder: string
  readonly token: number
}

/** Roles with a leader: of the chain, and the keeper of what belongs to no chain. */
const LEASES = ['follower arbitrum-sepolia', 'keeper ', 'keeper arbitrum-sepolia', 'relayer arbitrum-sepolia']

describe('the roles of nodes on one database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-roles-'))
  let server: RunningPostgres
  let devnet: RunningDevnet
  const nodes = new Map<string, RunningService>()
  /** The names by which the nodes hold leases. */
  const ids = new Map<string, string>()

  before(async () => {
    installPostgres()
    server = await startPostgres()
    await server.createDatabase('roles')
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
  })
  after(async () => {
    await Promise.all([...nodes.values()].map((node) => node.stop()))
    await devnet?.stop()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function listIds(): Promise<string[]> {
    const hasNodes = await server.psql('roles', `select to_regclass('nodes') is not null`)
    return hasNodes.trim() === 't' ? (await server.psql('roles', 'select id from nodes')).trim().split('\n') : []
  }

  async function startOn(database: string, name: string, roles: string): Promise<RunningService> {
    const node = await startService(devnet, {
      ...SETTINGS,
      DATABASE_URL: server.urlOf(database),
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
      BEZEL_DATA: join(folder, name),
      BEZEL_ROLES: roles,
    })
    nodes.set(name, node)
    return node
  }

  async function startNode(name: string, roles = ''): Promise<RunningService> {
    const known = await listIds()
    const node = await startOn('roles', name, roles)
    ids.set(
      name,
      (await listIds()).find((id) => !known.includes(id))!,
    )
    await movePrice({ chain: createChainClient(devnet.file), url: () => node.url }, 'BTC/USD', '60000')
    return node
  }

  /** Reads the leases as `role chain`, with their holders and tokens. */
  async function leases(): Promise<ReadLease[]> {
    const rows = await server.psql('roles', 'select role, chain, holder, token from leases order by role, chain')
    return rows
      .trim()
      .split('\n')
      .map((row) => row.split('|'))
      .map(([role, chain, holder, token]) => ({ name: `${role} ${chain}`, holder: holder!, token: Number(token) }))
  }

  /** Waits until a node leads everything: one that got no turn of the processor for seconds has to take it again. */
  const untilLedBy = (name: string): Promise<ReadLease[]> =>
    until(`${name} leads`, async (saw) => {
      const found = await leases()
      saw({ found, ids })
      return found.length === LEASES.length && found.every(({ holder }) => holder === ids.get(name)) ? found : undefined
    })

  /** Asserts that the tokens of all leases have grown or stayed, and are those of the same roles. */
  function assertOnlyGrown(then: readonly ReadLease[], now: readonly ReadLease[]): void {
    assert.deepEqual(
      now.map(({ name }) => name),
      then.map(({ name }) => name),
    )
    assert.ok(now.every(({ token }, at) => token >= then[at]!.token))
  }

  /** Returns a client of one agent at a node. */
  async function clientAt(node: RunningService, number: string): Promise<TradingClient> {
    const chain = createChainClient(devnet.file)
    const [trader, agent] = [chain.account(`trader-${number}`), chain.account(`agent-${number}`)]
    await authorize({ chain, url: () => node.url }, trader, agent, UNLIMITED_SCOPE)
    return createTradingClient({ devnet, chain, url: () => node.url }, trader, agent)
  }

  it('are led by the first that starts', async () => {
    const a = await startNode('a')
    assert.deepEqual(
      (await untilLedBy('a')).map(({ name }) => name),
      LEASES,
    )
    const filled = await (await clientAt(a, '1')).trade(MARKET, 'filled')
    assert.equal(filled.status, 'filled')
  })

  it('leave nodes that only answer without a key, and show them what another node follows', async () => {
    const c = await startNode('c', 'api')
    const refused = await placeRelayed(devnet, c, 'trader-2')
    assert.deepEqual([refused.status, refused.body.details.reason], [503, 'relayer_elsewhere'])
    const { relayer } = (await call(c.url, '/v1/arbitrum-sepolia')).body
    assert.equal(relayer, devnet.file.accounts.find(({ name }) => name === 'relayer')!.address)
    const filled = await (await clientAt(c, '2')).trade(MARKET, 'filled')
    assert.equal(filled.status, 'filled')
    await untilLedBy('a')
  })

  it('pass to a node that waits when the leader stops, which goes on with everything', async () => {
    const b = await startNode('b')
    const former = await leases()
    await nodes.get('a')!.stop()
    nodes.delete('a')
    assertOnlyGrown(former, await untilLedBy('b'))
    const filled = await (await clientAt(b, '3')).trade(MARKET, 'filled')
    assert.equal(filled.status, 'filled')
  })

  it('pass to a node that waits when the leader is killed, which relays what is asked of it', async () => {
    const d = await startNode('d')
    await nodes.get('b')!.kill()
    nodes.delete('b')
    await untilLedBy('d')
    const chain = createChainClient(devnet.file)
    const relayer = devnet.file.accounts.find(({ name }) => name === 'relayer')!.address
    await chain.send(chain.account('trader-4'), 'setTradingDelegate', [relayer])
    await until('the order rests', async (saw) => {
      const { body } = await placeRelayed(devnet, d, 'trader-4')
      saw(body)
      return body.response?.data?.statuses?.[0]?.resting
    })
  })

  it('stay with the next leader when the one before it was only stopped for a while', async () => {
    const e = await startNode('e')
    const { pid, url } = nodes.get('d')!
    process.kill(pid, 'SIGSTOP')
    const next = await untilLedBy('e')
    process.kill(pid, 'SIGCONT')
    const filled = await (await clientAt(e, '5')).trade(MARKET, 'filled')
    assert.equal(filled.status, 'filled')
    await until('the stopped node answers again', async () => (await fetch(`${url}/ready`)).ok)
    assertOnlyGrown(next, await leases())
  })

  it('all know how the contracts changed, whoever led when they did', async () => {
    const chain = createChainClient(devnet.file)
    const [e, d] = [nodes.get('e')!, nodes.get('d')!]
    const reasonAt = async ({ url }: RunningService): Promise<string | undefined> => {
      const { chains } = (await call(url, '/ready')).body
      return chains['arbitrum-sepolia'].reason
    }
    const untilChanged = (node: RunningService): Promise<boolean> =>
      until('the change is known', async (saw) => {
        const reason = await reasonAt(node)
        saw(reason)
        return reason === 'diamond_changed'
      })
    await chain.control('bezel_cutDiamond', 'replace', 'OtherLayoutFacet')
    await chain.send(chain.account('trader-3'), 'updateTp', [0, 0n])
    await Promise.all([e, d].map(untilChanged))
    process.kill(e.pid, 'SIGSTOP')
    await untilLedBy('d')
    await untilChanged(d)
    await chain.control('bezel_cutDiamond', 'replace', 'TradingInteractionsFacet')
    await until('the next leader is ready', async () => (await fetch(`${d.url}/ready`)).ok)
    process.kill(e.pid, 'SIGCONT')
    await until('the one before it is ready too', async () => (await fetch(`${e.url}/ready`)).ok)
  })

  it('tell the address of a relayer that starts last, and of one whose key is not the one of before', async () => {
    await server.createDatabase('late')
    const first = await startOn('late', 'first', 'api,follower,keeper')
    const addressAt = async () => (await call(first.url, '/v1/arbitrum-sepolia')).body.relayer
    assert.equal(await addressAt(), null)
    await startOn('late', 'last', 'relayer')
    const address = devnet.file.accounts.find(({ name }) => name === 'relayer')!.address
    await until('it is told', async () => (await addressAt()) === address)
    const former = `0x${'f0'.repeat(20)}`
    await server.psql(
      'late',
      `insert into relay_senders (chain, sender, first_nonce, next_nonce) values ('arbitrum-sepolia', '${former}', 0, 999)`,
    )
    const again = await startOn('late', 'again', 'api')
    assert.equal((await call(again.url, '/v1/arbitrum-sepolia')).body.relayer, address)
  })
})
