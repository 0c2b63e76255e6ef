import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AccountEvent } from '@bezel/protocol'
import { createBezelClient, type BezelClient, type StreamStatus, type StreamSubscription } from '@bezel/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { until } from '@bezel/testkit/until.ts'
import { call, keyIssue, revocation, send } from '@bezel/testkit/agentClient.ts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { startSdkStreamProxy, type SdkStreamProxy } from './sdkStreamProxy.ts'

const CHAIN = 'arbitrum-sepolia'
const RESTING = {
  market: 'BTC/USD',
  side: 'long',
  type: 'limit',
  size: '0.02',
  leverage: '10',
  price: '40000',
} as const
const FAST = { minDelayMs: 10, maxDelayMs: 200 }
const CUTS = Number(process.env['CAMPAIGN_CUTS'] ?? 20)
const MAX_CUT_MS = 120

describe('the stream of the SDK', () => {
  let world: TradingWorld
  let proxy: SdkStreamProxy

  before(async () => {
    world = await startTradingWorld()
    proxy = await startSdkStreamProxy(() => world.url())
  })
  after(async () => {
    await proxy?.close()
    await world?.stop()
  })

  const service = () =>
    ({ chain: CHAIN, baseUrl: proxy.url, diamond: world.devnet.file.chains[CHAIN]!.diamond }) as const
  async function clientOf(trader: string, agent: string): Promise<BezelClient> {
    await world.clientOf(trader, agent)
    const { address } = world.chain.account(trader)
    return createBezelClient({ ...service(), agent: world.chain.account(agent), trader: address })
  }
  const visitor = () => createBezelClient(service())
  const allClosed = () => until('no stream is open', () => proxy.openStreams() === 0)

  async function nextOf<Event>(of: StreamSubscription<Event>): Promise<Event> {
    const { done, value } = await of.next()
    assert.notEqual(done, true)
    return value as Event
  }

  async function drain(of: StreamSubscription<unknown>): Promise<void> {
    while ((await of.next()).done !== true);
  }

  /** Prepares an order and withdraws it, which makes two events. */
  async function prepareAndCancel(client: BezelClient): Promise<void> {
    const { order } = await client.orders.prepare(RESTING)
    await client.orders.prepareCancel(order.id)
  }

  async function restLog(client: BezelClient): Promise<AccountEvent[]> {
    const events: AccountEvent[] = []
    for (let lastSeq = 1; events.length < lastSeq;) {
      const page = await client.account.events({ after: events.length, limit: 500 })
      events.push(...page.data)
      lastSeq = page.lastSeq
    }
    return events
  }

  it('tells prices, books, trades and candles, and hangs up when the loops are left', async () => {
    const stream = visitor().stream()
    const marks: string[] = []
    for await (const { data, snapshot } of stream.prices({ markets: ['BTC/USD'] })) {
      assert.deepEqual([snapshot, data.length], [marks.length === 0, 1])
      marks.push(data[0]!.mark)
      if (marks.length === 2) break
      await world.setPrice(61_000)
    }
    assert.deepEqual(marks, ['60000', '61000'])
    await world.setPrice(60_000)
    for (const market of ['BTC/USD', 'ETH/USD']) {
      const [book, trades, candles] = [stream.book(market), stream.trades(market), stream.candles(market, '1m')]
      assert.deepEqual((await nextOf(book)).data.market, market)
      assert.equal((await nextOf(trades)).snapshot, true)
      assert.ok((await nextOf(candles)).data.length > 0)
      for (const one of [book, trades, candles]) one.close()
    }
    await allClosed()
  })

  it('tells every event once and in order over many cuts and a crash', async () => {
    const client = await clientOf('trader-1', 'agent-1')
    const random = createSeededRandom(815)
    const orders: AccountEvent[] = []
    const log: AccountEvent[] = []
    const states: string[] = []
    const settingsOf = (at: number) => ({ ...FAST, onStatus: ({ state }: StreamStatus) => void (states[at] = state) })
    const reading = client.stream(settingsOf(0)).orders({ fromSeq: 1 })
    const following = client.events(settingsOf(1))
    const readers = [
      (async () => {
        for await (const { snapshot, ...event } of reading) {
          assert.equal(snapshot, false)
          orders.push(event as AccountEvent)
        }
      })(),
      (async () => {
        for await (const event of following) log.push(event)
      })(),
    ]
    const trading = new AbortController()
    let pairs = 0
    const preparing = Array.from({ length: 3 }, async () => {
      while (!trading.signal.aborted) {
        await prepareAndCancel(client).catch(() => sleep(20))
        pairs += 1
      }
    })
    for (let cut = 0; cut < CUTS; cut += 1) {
      await until('both are back', () => states[0] === 'open' && states[1] === 'open' && pairs > cut)
      await sleep(random.below(MAX_CUT_MS))
      if (cut === Math.floor(CUTS / 2)) await world.crash()
      proxy.cutStreams()
    }
    trading.abort()
    await Promise.all(preparing)
    const expected = await restLog(client)
    await until('all of it is told', () => log.length >= expected.length && orders.at(-1)?.seq === log.at(-1)?.seq)
    reading.close()
    following.close()
    await Promise.all(readers)

    assert.ok(expected.length > CUTS, `${expected.length} events`)
    assert.deepEqual(log, expected)
    assert.deepEqual(
      orders,
      expected.filter(({ channel }) => channel === 'orders'),
    )
    const from = Math.floor(expected.length / 2)
    const resumed: AccountEvent[] = []
    for await (const event of client.events({ after: from })) {
      resumed.push(event)
      if (event.seq === expected.length) break
    }
    assert.deepEqual(resumed, expected.slice(from))
    await allClosed()
  })

  it('keeps a slow reader right: all of the log, the newest of prices', async () => {
    const client = await clientOf('trader-2', 'agent-2')
    const orders = client.stream({ ...FAST, maxWaiting: 3 }).orders()
    const prices = client.stream().prices({ markets: ['BTC/USD'] })
    const { seq: start } = await nextOf(orders)
    await nextOf(prices)
    for (let at = 0; at < 8; at += 1) {
      await prepareAndCancel(client)
      await world.setPrice(60_001 + at)
    }
    const expected = (await restLog(client)).filter(({ channel, seq }) => channel === 'orders' && seq > start)
    assert.equal(expected.length, 16)
    const told: number[] = []
    while (told.length < 16) told.push((await nextOf(orders)).seq)
    assert.deepEqual(
      told,
      expected.map(({ seq }) => seq),
    )
    await until('the last price', async () => (await nextOf(prices)).data[0]!.mark === '60008')
    for (const one of [orders, prices]) one.close()
    await world.setPrice(60_000)
    await allClosed()
  })

  it('is aborted, and closed', async () => {
    const client = await clientOf('trader-3', 'agent-3')
    const controller = new AbortController()
    const orders = client.stream().orders({ signal: controller.signal })
    const prices = client.stream().prices()
    await Promise.all([nextOf(orders), nextOf(prices)])
    const waiting = orders.next()
    controller.abort(new Error('enough'))
    await assert.rejects(waiting, { message: 'enough' })
    assert.equal(proxy.openStreams(), 1)
    const seen: boolean[] = []
    const loop = (async () => {
      for await (const { snapshot } of prices) seen.push(snapshot)
    })()
    client.stream().close()
    await loop
    await allClosed()
  })

  it('reads with an API key', async () => {
    const client = await clientOf('trader-4', 'agent-4')
    const { domain } = (await call(world.url(), `/v1/${CHAIN}`)).body.signing
    const body = await keyIssue(domain, world.chain.account('trader-4'), 'reader')
    const { apiKey } = (await send(world.url(), 'POST', `/v1/${CHAIN}/api-keys`, body)).body
    const trader = world.chain.account('trader-4').address
    const reader = createBezelClient({ ...service(), apiKey, trader })
    const orders = reader.stream().orders()
    assert.deepEqual((await nextOf(orders)).data, [])
    const { order } = await client.orders.prepare(RESTING)
    const told = await nextOf(orders)
    assert.deepEqual(told.data, order)
    const events = reader.events({ after: told.seq - 1 })
    assert.equal((await nextOf(events)).seq, told.seq)
    for (const one of [orders, events]) one.close()
    await allClosed()
  })

  it('says what no retry heals', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey())
    const of = (options: object) => createBezelClient({ ...service(), ...options }).stream()
    const trader = stranger.address
    await assert.rejects(of({ agent: stranger, trader }).orders().next(), {
      name: 'BezelApiError',
      code: 'AGENT_UNKNOWN',
    })
    await assert.rejects(of({ agent: stranger }).orders().next(), { name: 'BezelConfigError', code: 'NO_TRADER' })
    await assert.rejects(of({ apiKey: 'bz_no', trader }).account().next(), { code: 'API_KEY_UNKNOWN' })
    await assert.rejects(of({}).fills().next(), { name: 'BezelConfigError', code: 'NO_CREDENTIALS' })
    await assert.rejects(of({}).book('NO/USD').next(), { code: 'MARKET_NOT_FOUND', status: 404 })
    const prices = of({}).prices({ markets: ['BTC/USD', 'NO/USD'] })
    assert.equal((await nextOf(prices)).data[0]!.market, 'BTC/USD')
    await assert.rejects(drain(prices), { code: 'MARKET_NOT_FOUND', status: 404 })
    await assert.rejects(
      of({})
        .candles('BTC/USD', '2m' as '1m')
        .next(),
      { code: 'VALIDATION_ERROR' },
    )
    await assert.rejects(of({ chain: 'base' }).prices().next(), { code: 'CHAIN_NOT_FOUND', status: 404 })
    await allClosed()
  })

  it('ends private loops when the agent is revoked, and no others', async () => {
    const client = await clientOf('trader-5', 'agent-5')
    const stream = client.stream()
    const [orders, prices] = [stream.orders(), stream.prices({ markets: ['BTC/USD'] })]
    await Promise.all([nextOf(orders), nextOf(prices)])
    const { domain } = (await call(world.url(), `/v1/${CHAIN}`)).body.signing
    const [trader, agent] = [world.chain.account('trader-5'), world.chain.account('agent-5')]
    const body = await revocation(domain, trader, agent.address)
    await send(world.url(), 'DELETE', `/v1/${CHAIN}/agents/${agent.address}`, body)
    await assert.rejects(orders.next(), { name: 'BezelApiError', code: 'AGENT_REVOKED', status: 403 })
    await world.setPrice(60_500)
    assert.equal((await nextOf(prices)).data[0]!.mark, '60500')
    stream.close()
    await allClosed()
  })
})
