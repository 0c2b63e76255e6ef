import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import { authorization, call, keyIssue, revocation, send, UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { createTradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { startFaultyProxy, type FaultyProxy, type Lie } from '../outages/faultyProxy.ts'
import { closeConnections, junkAuthorization, junkTrader, originAt, postFrom, type Origin } from './junkTraders.ts'

// Junk registrations from many addresses, each of a trader of its own. CAMPAIGN=1000000 tries so many of them against
// the bound of a deployment; 20,000 of them, most of which the limits refuse, are tried against a smaller one.

const TRIES = Number(process.env['CAMPAIGN'] ?? 20_000)
const IS_LONG = TRIES > 20_000
const ORIGINS = IS_LONG ? 5_000 : 150
const MAX_CLAIMS = IS_LONG ? 100_000 : 800
const AT_ONCE = 8
const MEGABYTE = 2 ** 20
/** The memory that a flood may take for good. */
const MAX_GROWN_BYTES = 50 * MEGABYTE
/** The bytes on disk of one claim, with its indices, the room that deleted ones left between, and timestamps. */
const MAX_CLAIM_BYTES = 2_048
/** The bytes on disk of what is not merged yet, and of everything else that is written meanwhile. */
const OTHER_BYTES = 12 * MEGABYTE
/** Networks that nobody floods from. */
const HONEST = { forwardedFor: '203.0.113.7' }
const OWNERS = { forwardedFor: '192.0.2.3' }
const NEWCOMERS = [{ forwardedFor: '198.51.100.9' }, { forwardedFor: '2001:db9:77::5' }]

const SLUG = 'arbitrum-sepolia'
const CHAIN = `/v1/${SLUG}`

describe('a flood of registrations', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let node: FaultyProxy
  let service: RunningService
  let domain: SigningDomain
  let startAgain: () => Promise<void>

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '250' })
    chain = createChainClient(devnet.file)
    const described = devnet.file.chains[SLUG]!
    node = await startFaultyProxy(described.rpcUrl.replace(/\/$/, ''))
    const chainsFile = join(devnet.folder, 'flood.json')
    const served = { ...described, rpcUrl: node.url, wsUrl: undefined }
    writeFileSync(chainsFile, JSON.stringify({ chains: { [SLUG]: served }, feedUrl: devnet.file.feedUrl }))
    startAgain = async () => {
      service = await startService(devnet, {
        NODE_OPTIONS: `--import ${new URL('collectOnSignal.ts', import.meta.url)}`,
        BEZEL_CHAINS_FILE: chainsFile,
        BEZEL_TRUSTED_PROXIES: '1',
        BEZEL_IP_LIMIT: '1000000',
        BEZEL_REGISTRATION_LIMIT: '10',
        BEZEL_MAX_CLAIMS: String(MAX_CLAIMS),
        BEZEL_ACCOUNT_REFRESH_MS: '200',
      })
    }
    await startAgain()
    domain = (await call(service.url, CHAIN)).body.signing.domain
  })
  after(async () => {
    closeConnections()
    await service?.stop()
    await node?.close()
    await devnet?.stop()
  })

  const world = () => ({ devnet, chain, url: () => service.url })
  const account = () => privateKeyToAccount(generatePrivateKey())
  const post = (path: string, body: unknown) => send(service.url, 'POST', `${CHAIN}${path}`, body)

  it('is ten a minute from one address for agents and keys together, and revocations are not counted', async () => {
    const trader = account()
    const agents = Array.from({ length: 30 }, account)
    const registered: typeof agents = []
    let refused = 0
    // More than two windows allow: some are refused, even if a new window begins meanwhile.
    for (const [at, agent] of agents.entries()) {
      const answer =
        at % 3 === 2
          ? await post('/api-keys', await keyIssue(domain, trader, `key ${at}`))
          : await post('/agents', await authorization(domain, trader, agent, { withoutAgent: true }))
      if (answer.status === 201) registered.push(agent)
      if (answer.status < 300) continue
      assert.deepEqual([answer.status, answer.body.code, answer.body.details.scope], [429, 'RATE_LIMITED', 'ip'])
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
      refused += 1
    }
    assert.ok(refused >= 10, `${refused} were refused`)
    for (const { address } of registered) {
      const body = await revocation(domain, trader, address)
      assert.equal((await send(service.url, 'DELETE', `${CHAIN}/agents/${address}`, body)).status, 200)
    }
  })

  it('makes nobody who has nothing on the chain cost calls of every round', async () => {
    const asked: string[] = []
    const record: Lie = async (text, honest) => {
      asked.push(text.toLowerCase())
      return { text: await honest() }
    }
    node.fault = { kind: 'lies', lie: record }
    await authorize('trader-1', 'agent-1')
    const junk = Array.from({ length: 260 }, junkTrader)
    for (const [at, trader] of junk.entries()) {
      assert.equal(
        await postFrom(originAt(at), `${service.url}${CHAIN}/agents`, junkAuthorization(domain, trader, 'all')),
        201,
      )
    }
    const sockets = await Promise.all(Array.from({ length: 26 }, (_, at) => listen(junk.slice(at * 10, at * 10 + 10))))
    const client = await createTradingClient(world(), chain.account('trader-1'), chain.account('agent-1'))
    await until('an honest agent reads', async () => (await client.account('', 'getAccount')).status === 200)
    const honest = await listen([chain.account('trader-1')])
    const callsOf = (addresses: readonly { readonly address: string }[]): number => {
      const words = addresses.map(({ address }) => address.slice(2).toLowerCase())
      return asked.filter((text) => words.some((word) => text.includes(word))).length
    }
    const own = [chain.account('trader-1')]
    const [ownCalls, junkCalls] = [callsOf(own), callsOf(junk)]
    await until('ten rounds over accounts', () => callsOf(own) >= ownCalls + 10)
    assert.equal(callsOf(junk), junkCalls, 'nobody looks at junk')
    for (const socket of [...sockets, honest]) socket.terminate()
    node.fault = { kind: 'none' }
  })

  it('leaves memory and disk bounded, drops its own claims alone, and a restart finds its way', async () => {
    const listed = (await call(service.url, `${CHAIN}/markets`)).body.data
    const markets = listed.slice(0, 64).map(({ symbol }: { readonly symbol: string }) => symbol)
    const honest = await claimFrom(HONEST)
    const counts = new Map<number, number>()
    const accepted: string[] = []
    const flood = async (from: number, to: number): Promise<void> => {
      let next = from
      const work = async (): Promise<void> => {
        for (let at = next++; at < to; at = next++) {
          const body = junkAuthorization(domain, junkTrader(), at % 10 === 0 ? markets : 'all')
          const status = await postFrom(originAt(at % ORIGINS), `${service.url}${CHAIN}/agents`, body)
          counts.set(status, (counts.get(status) ?? 0) + 1)
          if (status === 201) accepted.push(body.agent)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    }
    await flood(0, TRIES / 10)
    const [memory, disk] = [await memoryBytes(), diskBytes()]
    await flood(TRIES / 10, TRIES)
    const [grown, grownOnDisk] = [(await memoryBytes()) - memory, diskBytes() - disk]
    console.log(`${TRIES} tried, answers ${JSON.stringify([...counts])}, memory +${grown}, disk +${grownOnDisk}`)
    assert.deepEqual(new Set(counts.keys()).difference(new Set([201, 429])), new Set())
    assert.ok(accepted.length > MAX_CLAIMS * 1.2, `${accepted.length} of ${TRIES} were accepted: no bound was reached`)
    assert.ok(grown <= MAX_GROWN_BYTES, `memory grew by ${grown} bytes`)
    const allowed = OTHER_BYTES + MAX_CLAIMS * MAX_CLAIM_BYTES
    assert.ok(grownOnDisk <= allowed, `disk grew by ${grownOnDisk} bytes of ${allowed}`)

    const newcomers = await Promise.all(NEWCOMERS.map(claimFrom))
    const checkClaims = async (): Promise<void> => {
      for (const agent of [honest, ...newcomers, accepted.at(-1)!]) assert.ok(await isRegistered(agent), agent)
      const oldest = await Promise.all(accepted.slice(0, 100).map(isRegistered))
      assert.ok(oldest.includes(false), 'the oldest junk had to go')
    }
    await checkClaims()
    await service.kill()
    await startAgain()
    await checkClaims()
    await authorize('trader-2', 'agent-2')
    for (const [trader, agent] of [
      ['trader-1', 'agent-1'],
      ['trader-2', 'agent-2'],
    ] as const) {
      const client = await createTradingClient(world(), chain.account(trader), chain.account(agent))
      await until('an honest agent reads', async () => (await client.account('', 'getAccount')).status === 200)
    }
  })

  /** Registers an agent that is not in force, from an origin that is within its limits, and returns its address. */
  async function claimFrom(origin: Origin): Promise<string> {
    const agent = account()
    const status = await postFrom(
      origin,
      `${service.url}${CHAIN}/agents`,
      await authorization(domain, account(), agent),
    )
    assert.equal(status, 201)
    return agent.address
  }

  const isRegistered = async (agent: string): Promise<boolean> =>
    (await call(service.url, `${CHAIN}/agents/${agent}`)).status === 200

  /** Authorises an agent and makes it its trader's delegate. */
  async function authorize(trader: string, agent: string): Promise<void> {
    const body = await authorization(domain, chain.account(trader), chain.account(agent), { scope: UNLIMITED_SCOPE })
    assert.equal(await postFrom(OWNERS, `${service.url}${CHAIN}/agents`, body), 201)
    await chain.send(chain.account(trader), 'setTradingDelegate', [chain.account(agent).address])
  }

  /** Subscribes to the accounts of users at the facade, and returns the socket once all have answered. */
  async function listen(users: readonly { readonly address: string }[]): Promise<WebSocket> {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/hl/${SLUG}/ws`)
    const told = new Set<string>()
    socket.on('message', (data) => {
      const { channel, data: of } = JSON.parse(String(data)) as { channel: string; data: { user?: string } }
      if (channel === 'clearinghouseState') told.add(String(of.user).toLowerCase())
    })
    await new Promise((opened, failed) => socket.once('open', opened).once('error', failed))
    for (const { address: user } of users) {
      socket.send(JSON.stringify({ method: 'subscribe', subscription: { type: 'clearinghouseState', user } }))
    }
    await until('all accounts were told', () => told.size === users.length)
    return socket
  }

  /** Reads the memory that the service needs, without the page cache of the database, which has a size of its own. */
  async function memoryBytes(): Promise<number> {
    const read = async (): Promise<(name: string) => number> => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      return (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
    }
    const collections = 'nodejs_gc_duration_seconds_count\\{kind="major"\\}'
    const collected = (await read())(collections)
    process.kill(service.pid, 'SIGWINCH')
    const value = await until('garbage is collected', async () => {
      const now = await read()
      return now(collections) > collected ? now : undefined
    })
    const used = value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes')
    assert.ok(used > 0)
    return used
  }

  /** Reads the size of the service's database, with what is not yet merged into it. */
  function diskBytes(): number {
    const files = readdirSync(devnet.folder).filter((name) => name.startsWith('bezel.db'))
    return files.reduce((sum, name) => sum + statSync(join(devnet.folder, name)).size, 0)
  }
})
