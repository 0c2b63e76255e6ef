import assert from 'node:assert/strict'
import { mkdtempSync, existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Position, SigningDomain } from '@bezel/protocol'
import { authorization, call, keyIssue, send, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { startFacadeWorld, type FacadeWorld } from '../facade/facadeWorld.ts'
import { envelopeOf, type RawEnvelope } from '../facade/rawExchange.ts'
import { blocksOf, runCommands } from './runbook.ts'
import { addressFor, giveRights } from './servedDatabase.ts'
import {
  connectFacade,
  info,
  MARKET,
  placeOnFacade,
  sendEnvelope,
  type FacadeTrader,
  type ServiceSettings,
} from './usedDeployment.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const GUIDE = 'docs/operations.md'
const RUNBOOK = 'docs/runbooks/database-restored.md'
/** Time by which requests are dated ahead: nearly as much as is accepted, so that they can be repeated for long. */
const AHEAD_MS = 25_000
const FACADE_AHEAD_MS = 50_000

const IN_CAMPAIGN = { skip: process.env['CAMPAIGN'] === undefined ? 'set CAMPAIGN=1: it waits for a minute' : false }

/** Returns the block of commands of the guide that has this word. */
function commandsWith(word: string): string {
  const found = blocksOf(GUIDE).filter((text) => text.includes(word))
  assert.equal(found.length, 1, `one block of the guide has ${word}`)
  return found[0]!
}

/** True for 65 bytes in hex. */
const isSignature = (value: unknown): value is string => /^0x[0-9a-f]{130}$/i.test(String(value))

/** The life of a deployment whose database is put back. Each story continues where the last one ended. */
describe('a deployment on PostgreSQL whose back-up is put back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-back-up-'))
  const settings: ServiceSettings = {}
  let server: RunningPostgres
  let world: FacadeWorld
  let client: TradingClient
  let domain: SigningDomain
  let facade: FacadeTrader
  /** Requests that were accepted after the back-up. */
  let write: () => Promise<Answer>
  let read: () => Promise<Answer>
  let envelope: RawEnvelope
  /** Sizes of the positions before the restore. */
  let held: string[]
  /** Transactions that the relayer had sent before the restore. */
  let sent: number

  before(async () => {
    installPostgres()
    server = await startPostgres({ isDurable: true })
    await server.createDatabase('bezel')
    await giveRights(server, 'bezel', folder)
    settings['DATABASE_URL'] = addressFor('bezel_serve', server, 'bezel')
    world = await startFacadeWorld({ service: settings })
    client = await world.clientOf('trader-1', 'agent-1')
    domain = (await call(world.url(), CHAIN)).body.signing.domain
    facade = await connectFacade(world, 'trader-2', 'agent-2')
  })
  after(async () => {
    await world?.stop()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Runs commands of the guide or the runbook as an operator of this server does. */
  const runHere = (commands: string): Promise<string> =>
    runCommands(commands, {
      instead: { '/var/backups': folder, 'http://127.0.0.1:8081': world.url() },
      env: { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'bezel' },
      etc: folder,
      addresses: { DATABASE_URL: addressFor('bezel_serve', server, 'bezel') },
      data: world.devnet.folder,
      owner: addressFor('bezel_migrate', server, 'bezel'),
    })

  /** Signs a request once, dated ahead. Returns the function that sends it. */
  async function signOnce(operation: string, method: string, path: string, body?: object) {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const of = { operation, method, path: CHAIN + path, ...(text === undefined ? {} : { body: text }) }
    const timestamp = String(Date.now() + AHEAD_MS)
    const own = await signedHeaders(domain, client.agent, of, { timestamp })
    const headers = {
      ...own,
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const once = () => call(world.url(), of.path, { method, headers, ...(text === undefined ? {} : { body: text }) })
    return Object.assign(once, { signature: own['x-service-signature']! })
  }

  /** Signs a request and sends it, again as long as the service is not ready. Returns the last one with its answer. */
  async function acceptOnce(...of: Parameters<typeof signOnce>) {
    const last: { once?: Awaited<ReturnType<typeof signOnce>> } = {}
    const answer = await untilSettled(async () => (last.once = await signOnce(...of))(), BUSY)
    return { once: last.once!, answer }
  }

  const sizesOf = (positions: readonly Position[]): string[] => positions.map(({ size }) => size).toSorted()
  const relayed = (): Promise<number> =>
    world.chain.client.getTransactionCount({ address: world.chain.account('relayer').address })
  const facadeOrders = async (): Promise<{ limitPx: string; cloid?: string }[]> =>
    (await info(world, { type: 'openOrders', user: facade.address })) as { limitPx: string; cloid?: string }[]
  const prices = async (): Promise<number[]> => (await facadeOrders()).map(({ limitPx }) => Number(limitPx)).toSorted()

  it('is backed up while it runs', async () => {
    await client.trade({ ...MARKET, clientId: 'before' }, 'filled')
    await placeOnFacade(world, facade, { price: '50000', cloid: `0x${'1'.repeat(32)}` })
    await runHere(commandsWith('pg_dump --format=custom --file=/var/backups'))
  })

  it('has in its back-up no key and no signature, and nothing that opens the service', async () => {
    const [trader, agent] = [world.chain.account('trader-3'), world.chain.account('agent-3')]
    let signed = await authorization(domain, trader, agent)
    const registered = await untilSettled(async () => {
      signed = await authorization(domain, trader, agent)
      return send(world.url(), 'POST', `${CHAIN}/agents`, signed)
    }, BUSY)
    assert.equal(registered.status, 201, JSON.stringify(registered.body))
    let issue = await keyIssue(domain, trader, 'watch')
    const issued = await untilSettled(async () => {
      issue = await keyIssue(domain, trader, 'watch')
      return send(world.url(), 'POST', `${CHAIN}/api-keys`, issue)
    })
    const { apiKey } = issued.body
    const order = { ...MARKET, clientId: 'in-the-copy' }
    const { once: first, answer } = await acceptOnce('createOrder', 'POST', '/orders', order)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    const copy = (await server.program('pg_dump', '--data-only', server.urlOf('bezel'))).toLowerCase()
    assert.ok(copy.includes(agent.address.toLowerCase().slice(2)), 'the copy has the agent')
    const keys = world.devnet.file.accounts.map(({ privateKey }) => privateKey)
    const signatures = [...Object.values(signed), issue.signature, first.signature].filter(isSignature)
    assert.equal(signatures.length, 4)
    for (const secret of [apiKey, ...keys, ...signatures]) {
      assert.ok(!copy.includes(secret.replace(/^0x/, '').toLowerCase()), secret)
    }
    const hash = (await server.psql('bezel', `select key_hash from api_keys where label = 'watch'`)).trim()
    const readWith = (key: string): Promise<Answer> =>
      untilSettled(
        () => call(world.url(), `${CHAIN}/account/${trader.address}/orders`, { headers: { 'x-service-api-key': key } }),
        BUSY,
      )
    for (const forged of [hash, `0x${hash}`]) assert.equal((await readWith(forged)).status, 401)
    assert.equal((await readWith(apiKey)).status, 200)
  })

  it('goes on: an order, a read and an envelope are accepted, each once', async () => {
    const created = await acceptOnce('createOrder', 'POST', '/orders', { ...MARKET, clientId: 'between' })
    write = created.once
    const { status, body } = created.answer
    assert.equal(status, 201, JSON.stringify(body))
    await client.broadcast(body.transaction)
    await client.orderOnce(body.order.id, (order) => order.status === 'filled')
    const listed = await acceptOnce('listPositions', 'GET', `/account/${client.trader.address}/positions`)
    read = listed.once
    held = sizesOf(listed.answer.body.data)
    assert.equal(held.length, 2)
    const cloid = `0x${'2'.repeat(32)}`
    const order = { a: 0, b: true, p: '49000', s: '0.01', r: false, t: { limit: { tif: 'Gtc' } }, c: cloid }
    envelope = await until('the envelope is accepted', async (saw) => {
      const action = { type: 'order', orders: [order], grouping: 'na' }
      const sending = await envelopeOf(facade.wallet, action, { nonce: Date.now() + FACADE_AHEAD_MS })
      const text = await sendEnvelope(world, sending)
      saw(text)
      return text.includes('"resting"') ? sending : undefined
    })
    sent = 2
    await until('both are mined', async (saw) => {
      const count = await relayed()
      saw(count)
      return count === sent
    })
  })

  it('is put back by the commands of the runbook, and goes on with the users that it had', async () => {
    await world.stopService()
    assert.equal(existsSync(join(world.devnet.folder, 'nonces.log')), false, 'used nonces are in the database alone')
    const [putBack = '', look = '', ...others] = blocksOf(RUNBOOK)
    assert.deepEqual(others, [])
    assert.match(await runHere(putBack), /Nothing that was signed before is accepted again/)
    const orders = await server.psql('bezel', 'select count(*) from orders')
    assert.equal(orders, '2\n', 'the orders of between are gone')
    await world.startService()
    await until('it is over', async (saw) => {
      const said = await runHere(look)
      saw(said)
      return /"ready":true.*Nothing is paused/.test(said)
    })
  })

  it('refuses everything that was signed before', async () => {
    for (const replay of [write, read]) {
      const { status, body } = await untilSettled(replay, BUSY)
      assert.equal(status, 401, JSON.stringify(body))
      assert.match(body.code, /^(NONCE_REUSED|TIMESTAMP_OUT_OF_WINDOW)$/)
    }
    await until('the envelope is refused', async (saw) => {
      const text = await sendEnvelope(world, envelope)
      saw(text)
      assert.doesNotMatch(text, /"status":"ok"/)
      return text.includes('"status":"err"')
    })
  })

  it('finds what happened since on the chain, and the relayer repeats nothing', async () => {
    await until('both orders of the facade are there', async (saw) => {
      const found = await prices()
      saw(found)
      return found.length === 2
    })
    assert.deepEqual(await prices(), [49_000, 50_000])
    assert.equal(await relayed(), sent)
    const positions = await until('requests are accepted again', async (saw) => {
      const { status, body } = await client.account('/positions', 'listPositions')
      saw(body)
      return status === 200 ? (body.data as Position[]) : undefined
    })
    assert.deepEqual(sizesOf(positions), held)
  })

  it('goes on trading, and the relayer has the next nonce of the chain', async () => {
    const first = { ...MARKET, clientId: 'before' }
    const repeat = await untilSettled(() => client.request('createOrder', 'POST', '/orders', first), BUSY)
    assert.equal(repeat.status, 200, JSON.stringify(repeat.body))
    await client.trade({ ...MARKET, clientId: 'after' }, 'filled')
    await until('the relayer knows its next nonce', async (saw) => {
      const next = await server.psql('bezel', 'select next_nonce from relay_senders')
      saw(next)
      return next === `${sent}\n`
    })
    assert.equal(await relayed(), sent)
  })

  it('goes on trading on the facade, a minute later', IN_CAMPAIGN, async () => {
    await placeOnFacade(world, facade, { price: '48000', cloid: `0x${'3'.repeat(32)}` })
    assert.deepEqual(await prices(), [48_000, 49_000, 50_000])
    assert.equal(await relayed(), sent + 1)
    const stored = await server.psql('bezel', `select nonce, state from relay_entries order by nonce`)
    assert.match(stored, /^0\|(live|done)\n2\|(live|done)\n$/)
  })
})
