import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AuditLogEntry, SigningDomain } from '@bezel/protocol'
import { authorization, call, keyIssue, revocation, send, UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { startFacadeWorld, type FacadeWorld } from '../facade/facadeWorld.ts'
import { connectRaw, envelopeOf, postRaw } from '../facade/rawExchange.ts'

const CHAIN = '/v1/arbitrum-sepolia'

const SLUG = 'arbitrum-sepolia'

const OPERATOR = fileURLToPath(new URL('../../packages/server/bezel-server.mjs', import.meta.url))

const RESTING = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.01', price: '50000', leverage: '10' }

const REST_ON_FACADE = {
  type: 'order',
  orders: [{ a: 0, b: true, p: '50000', s: '0.01', r: false, t: { limit: { tif: 'Gtc' } } }],
  grouping: 'na',
}

describe('rights and controls', () => {
  let world: FacadeWorld
  let client: TradingClient
  let domain: SigningDomain

  before(async () => {
    world = await startFacadeWorld({ service: { BEZEL_SECURITY_CONTACT: 'mailto:security@example.com' } })
    domain = (await call(world.url(), CHAIN)).body.signing.domain
    client = await world.clientOf('trader-1', 'agent-1')
  })
  after(() => world?.stop())

  /** Runs the operator's command beside the running service, on its data folder. */
  async function operator(...words: string[]): Promise<string> {
    const env = { ...process.env, BEZEL_DATA: world.devnet.folder }
    const child = spawn(process.execPath, [OPERATOR, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.on('data', (chunk) => (out += String(chunk)))
    const [code] = await once(child, 'close')
    assert.equal(code, 0, out)
    return out
  }

  async function auditOf(of: TradingClient, query = ''): Promise<{ data: AuditLogEntry[]; nextCursor: string | null }> {
    const { status, body } = await of.account(`/audit${query}`, 'listAudit')
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  const kindsOf = async (of: TradingClient): Promise<string[]> => (await auditOf(of)).data.map(({ kind }) => kind)

  const noticesOf = async (address: string): Promise<{ type: string; message: string }[]> =>
    (await call(world.url(), `/api/notifications/${address}`)).body.notifications

  /** Asks for an order until the service answers with this status. */
  const orderAnswers = (status: number) =>
    until(`an order is answered with ${status}`, async (saw) => {
      const answer = await client.request('createOrder', 'POST', '/orders', RESTING)
      saw(answer.body)
      return answer.status === status ? answer : undefined
    })

  it('tells the trader every change of rights with its request, and no address of a caller', async () => {
    const { trader, agent } = client
    await until('the delegation is told', async () => (await kindsOf(client)).includes('delegation_seen'))
    const scope = { ...UNLIMITED_SCOPE, maxLeverage: '20' }
    const changed = await call(world.url(), `${CHAIN}/agents`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'narrowed-1' },
      body: JSON.stringify(await authorization(domain, trader, agent, { scope })),
    })
    assert.equal(changed.status, 201, JSON.stringify(changed.body))
    const issued = await send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, trader, 'dashboard'))
    assert.equal(issued.status, 200, JSON.stringify(issued.body))

    const { data } = await auditOf(client)
    assert.deepEqual(
      data.map(({ kind }) => kind),
      ['key_issued', 'agent_changed', 'delegation_seen', 'agent_added'],
    )
    const [key, change, , added] = data
    assert.deepEqual([key?.keyLabel, key?.agent], ['dashboard', null])
    assert.deepEqual([change?.requestId, change?.agent], ['narrowed-1', agent.address])
    assert.deepEqual(change?.detail?.scope, scope)
    assert.ok(added !== undefined && Math.abs(added.createdAt - Date.now()) < 3_600_000)
    assert.ok(!JSON.stringify(data).includes('127.0.0.1'))

    const page = await auditOf(client, '?limit=1')
    assert.deepEqual(page.data, [key])
    assert.deepEqual((await auditOf(client, `?limit=3&cursor=${page.nextCursor}`)).data, data.slice(1))

    const told = await noticesOf(trader.address)
    assert.deepEqual(
      told
        .map(({ type }) => type)
        .filter((type) => /agent_added|key_issued/.test(type))
        .toSorted(),
      ['agent_added', 'key_issued'],
    )
    assert.ok(!JSON.stringify(told).includes('dashboard'))
  })

  it('lets no agent change rights: a key, another agent or a wider scope', async () => {
    const { trader, agent } = client
    const kinds = await kindsOf(client)
    const asTrader = (body: object) => ({ ...body, trader: trader.address })
    const accomplice = world.chain.account('agent-5')
    const tries = [
      ['POST', '/api-keys', await keyIssue(domain, agent, 'mine')],
      ['POST', '/agents', await authorization(domain, agent, accomplice)],
      ['POST', '/agents', await authorization(domain, agent, agent)],
      ['DELETE', `/agents/${agent.address}`, await revocation(domain, agent, agent.address)],
    ] as const
    for (const [method, path, body] of tries) {
      const answer = await send(world.url(), method, CHAIN + path, asTrader(body))
      assert.equal(answer.body.code, 'INVALID_SIGNATURE', `${method} ${path}`)
    }
    assert.deepEqual(await kindsOf(client), kinds)
  })

  it('is read with an API key of the account, and with no other', async () => {
    const { trader } = client
    const { body } = await send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, trader, 'watch'))
    const read = (address: string) =>
      call(world.url(), `${CHAIN}/account/${address}/audit`, { headers: { 'x-service-api-key': body.apiKey } })
    const own = await read(trader.address)
    assert.deepEqual([own.status, own.body.data[0].kind], [200, 'key_issued'])
    assert.equal((await read(world.chain.account('trader-2').address)).body.code, 'TRADER_MISMATCH')
    assert.equal((await call(world.url(), `${CHAIN}/account/${trader.address}/audit`)).status, 401)
  })

  it('lets the operator pause one trader or one agent, which the trader reads', async () => {
    const other = await world.clientOf('trader-2', 'agent-2')
    for (const [what, address] of [
      ['trader', client.trader.address],
      ['agent', client.agent.address],
    ] as const) {
      await operator('pause', what, SLUG, address, '--reason', 'see your mail')
      assert.match((await orderAnswers(503)).body.message, /see your mail$/)
      assert.equal((await other.request('createOrder', 'POST', '/orders', RESTING)).status, 201)
      await operator('resume', what, SLUG, address)
      await orderAnswers(201)
      assert.deepEqual((await kindsOf(client)).slice(0, 2), ['resumed', 'paused'])
    }
  })

  it('lets the operator stop the relayer and set its budgets, and tells who was refused', async () => {
    const wallet = await connectRaw(world, 'trader-4', 'agent-4')
    const ask = async () => (await postRaw(world, await envelopeOf(wallet, REST_ON_FACADE))).text
    const askUntil = (text: RegExp) =>
      until(`the facade answers ${text}`, async (saw) => {
        const answer = await ask()
        saw(answer)
        return text.test(answer)
      })
    await operator('pause', 'relayer', SLUG)
    await askUntil(/The operator has paused the relayer on arbitrum-sepolia/)
    const { relayer, relayerWarning } = (await call(world.url(), '/ready')).body.chains[SLUG]
    assert.deepEqual([relayer, relayerWarning], [false, `The operator has paused the relayer on ${SLUG}.`])
    await operator('resume', 'relayer', SLUG)
    await askUntil(/resting/)

    await operator('budget', SLUG, '--trader-day', '0')
    await askUntil(/Gas budget of this account is used up/)
    const trader = world.chain.account('trader-4')
    const { body } = await send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, trader, 'watch'))
    const refusals = async (): Promise<AuditLogEntry[]> => {
      const headers = { 'x-service-api-key': body.apiKey as string }
      const { body: page } = await call(world.url(), `${CHAIN}/account/${trader.address}/audit`, { headers })
      return page.data.filter(({ kind }: AuditLogEntry) => kind === 'relay_refused')
    }
    await until('the refusal is told', async () => (await refusals()).length > 0)
    await operator('budget', SLUG, '--trader-day', 'default')
    await askUntil(/resting/)
    assert.deepEqual(
      (await refusals()).map(({ detail }) => detail),
      [{ reason: 'trader_budget' }],
    )
  })

  it('keeps no key in the data folder', async () => {
    const { body } = await send(
      world.url(),
      'POST',
      `${CHAIN}/api-keys`,
      await keyIssue(domain, client.trader, 'secret'),
    )
    const keys = [body.apiKey as string, ...['relayer', 'trader-1', 'agent-1', 'agent-4'].map(world.keyOf)]
    const files = readdirSync(world.devnet.folder).filter((name) => /^(?:bezel\.db|nonces)/.test(name))
    assert.ok(files.includes('bezel.db') && files.includes('nonces.log'), files.join())
    const contents = files.map((name) => readFileSync(join(world.devnet.folder, name)))
    for (const key of keys) {
      const spellings = [key, key.replace('0x', ''), key.toUpperCase()].map((text) => Buffer.from(text))
      if (key.startsWith('0x')) spellings.push(Buffer.from(key.slice(2), 'hex'))
      for (const spelling of spellings) assert.ok(contents.every((bytes) => !bytes.includes(spelling)))
    }
  })

  it('says where to report a vulnerability', async () => {
    const answer = await fetch(`${world.url()}/.well-known/security.txt`)
    assert.match(await answer.text(), /^Contact: mailto:security@example\.com\nExpires: .*Z\n/)
  })

  it('lets the operator pause and resume a chain while the service runs', async () => {
    assert.match(await operator('pause', 'writes', SLUG, '--reason', 'contract upgrade'), /paused \(contract upgrade\)/)
    const { body } = await orderAnswers(503)
    assert.deepEqual([body.code, body.details.reason], ['NOT_READY', 'paused'])
    assert.match(body.message, /contract upgrade$/)
    const ready = await call(world.url(), '/ready')
    const { writesPaused, relayer } = ready.body.chains[SLUG]
    assert.deepEqual([ready.status, writesPaused, relayer], [200, 'contract upgrade', false])
    // Reads and revocations go on, also across a crash, which ends no pause.
    await world.crash()
    assert.equal((await client.account('/positions', 'listPositions')).status, 200)
    const spare = await world.clientOf('trader-3', 'agent-3')
    const { trader, agent } = spare
    const revoked = await revocation(domain, trader, agent.address)
    assert.equal((await send(world.url(), 'DELETE', `${CHAIN}/agents/${agent.address}`, revoked)).status, 200)
    assert.equal((await orderAnswers(503)).body.details.reason, 'paused')

    await operator('resume', 'writes', SLUG)
    await orderAnswers(201)
    assert.match(await operator('status'), /^Nothing is paused/)
  })
})
