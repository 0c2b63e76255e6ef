import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DATA_MESSAGES, type Order, type Position, type SigningDomain, type StreamChannel } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { call, keyIssue, revocation, send, signedHeaders } from '@bezel/testkit/agentClient.ts'
import { authMessage, openStream, STREAM_PATH, type Received, type StreamClient } from './stream/streamClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const CHAIN_PATH = '/v1/arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

describe('the stream of a service that trades', () => {
  let world: TradingWorld
  let domain: SigningDomain
  const streams: StreamClient[] = []

  before(async () => {
    world = await startTradingWorld()
    domain = (await call(world.url(), CHAIN_PATH)).body.signing.domain
  })
  after(async () => {
    for (const stream of streams) stream.cut()
    await world?.stop()
  })

  async function open(headers: Record<string, string> = {}): Promise<StreamClient> {
    const stream = await openStream(world.url(), { headers })
    streams.push(stream)
    return stream
  }

  /** Returns the next data message of a channel, after checking its shape. */
  async function data(
    stream: StreamClient,
    channel: StreamChannel,
    isExpected: (json: Received['json']) => boolean = () => true,
  ): Promise<Received['json']> {
    const isData = (json: Received['json']): boolean => json.channel === channel && json.op === undefined
    const { json } = await stream.next(channel, (message) => isData(message) && isExpected(message))
    const problems = [...Value.Errors(DATA_MESSAGES[channel], json)]
    assert.deepEqual(problems, [])
    return json
  }

  const error = (stream: StreamClient) => stream.next('an error', ({ op }) => op === 'error').then(({ json }) => json)

  it('tells prices, books, candles and trades to anybody', async () => {
    const client = await world.clientOf('trader-1', 'agent-1')
    const [stream, single] = [await open(), await open()]
    single.send({ op: 'subscribe', channel: 'prices', market: 'BTC/USDT' })
    assert.equal((await error(single)).code, 'MARKET_NOT_FOUND')
    single.send({ op: 'subscribe', channel: 'prices', market: 'BTC/USD' })
    assert.deepEqual((await data(single, 'prices')).snapshot, true)
    stream.send({ op: 'subscribe', channel: 'prices' })
    stream.send({ op: 'subscribe', channel: 'book', market: 'BTC/USD' })
    stream.send({ op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '1m' })
    stream.send({ op: 'subscribe', channel: 'trades', market: 'BTC/USD' })
    const first = await data(stream, 'prices')
    assert.deepEqual([first.snapshot, first.data.length > 50], [true, true])
    for (const channel of ['book', 'candles', 'trades'] as const)
      assert.equal((await data(stream, channel)).snapshot, true)

    await world.setPrice(60_123)
    const changed = (json: Received['json']) =>
      json.data.some(({ market, mark }: Received['json']) => market === 'BTC/USD' && mark === '60123')
    const delta = await data(stream, 'prices', changed)
    assert.equal(delta.snapshot, false)
    const alone = await data(single, 'prices', changed)
    assert.deepEqual([alone.snapshot, alone.market], [false, 'BTC/USD'])
    assert.equal((await data(stream, 'book', (json) => json.data.markPrice === '60123')).snapshot, false)
    assert.equal((await data(stream, 'candles', (json) => json.data.at(-1).close === '60123')).snapshot, false)

    const { fill } = await client.trade(MARKET, 'filled')
    const [trade] = (await data(stream, 'trades')).data
    assert.deepEqual([trade.price, trade.action, trade.txHash], [fill!.price, 'TradeOpenedMarket', fill!.txHash])
    const rest = (await call(world.url(), `${CHAIN_PATH}/markets/BTC-USD/trades?limit=1`)).body.data
    assert.deepEqual(rest, [trade])
    const pricesOf = ({ received }: StreamClient) =>
      received.map(({ json }) => json).filter(({ channel, snapshot }) => channel === 'prices' && snapshot !== undefined)
    for (const socket of [stream, single]) {
      const seqs = pricesOf(socket).map(({ seq }) => seq)
      assert.deepEqual(
        seqs,
        seqs.map((_, at) => seqs[0] + at),
        'no gap',
      )
    }
    const others = pricesOf(single).flatMap((json) =>
      json.data.filter(({ market }: Received['json']) => market !== 'BTC/USD'),
    )
    assert.deepEqual(others, [])
  })

  it('tells a trader every step of an order, and what it made of the account', async () => {
    const client = await world.clientOf('trader-2', 'agent-2')
    const stream = await open()
    stream.send({ op: 'subscribe', channel: 'orders' })
    assert.equal((await error(stream)).code, 'UNAUTHENTICATED')
    stream.send(await authMessage(domain, client.agent))
    const { json } = await stream.next('authenticated', ({ op }) => op === 'authenticated')
    assert.deepEqual(json, { op: 'authenticated', trader: client.trader.address, via: 'agent' })
    for (const channel of ['orders', 'fills', 'positions', 'account'] as const)
      stream.send({ op: 'subscribe', channel })
    let seq = 0
    for (const channel of ['orders', 'fills', 'positions', 'account'] as const) {
      const snapshot = await data(stream, channel)
      assert.deepEqual([snapshot.snapshot, snapshot.block, snapshot.reverted], [true, null, false])
      seq = snapshot.seq
    }

    const { order, transaction } = await client.prepare(MARKET)
    const prepared = await data(stream, 'orders')
    assert.deepEqual([prepared.seq, prepared.data], [seq + 1, order])
    await client.submit(order.id, await client.broadcast(transaction))
    const filled = await data(stream, 'orders', (message) => message.data.status === 'filled')
    assert.deepEqual(filled.data, await client.order(order.id))
    assert.deepEqual((await data(stream, 'fills')).data, filled.data)
    const positions = (await data(stream, 'positions')).data as Position[]
    assert.deepEqual(
      positions.map(({ id }) => id),
      [(filled.data as Order).fill!.positionId],
    )
    const usdc = (message: Received['json']) =>
      message.data.balances.find(({ collateral }: Received['json']) => collateral === 'USDC').balance
    assert.ok(Number(usdc(await data(stream, 'account'))) < 1_000_000)

    const closing = await client.request('closePosition', 'POST', `/positions/${positions[0]!.id}/close`, {})
    await client.broadcast(closing.body.transaction)
    assert.deepEqual((await data(stream, 'positions')).data, [])
  })

  it('knows an agent by the headers of the upgrade and a key by its message, and ends with them', async () => {
    const client = await world.clientOf('trader-3', 'agent-3')
    const headers = await signedHeaders(domain, client.agent, { operation: 'wsAuth', method: 'WS', path: STREAM_PATH })
    const byHeaders = await open(headers)
    await byHeaders.next('authenticated', ({ op, via }) => op === 'authenticated' && via === 'agent')
    await assert.rejects(open(headers), /401/, 'a nonce is good once')
    const { apiKey } = (
      await send(world.url(), 'POST', `${CHAIN_PATH}/api-keys`, await keyIssue(domain, client.trader, 'x'))
    ).body
    const byKey = await open()
    byKey.send({ op: 'auth', apiKey })
    await byKey.next('authenticated', ({ op, via }) => op === 'authenticated' && via === 'apiKey')
    for (const stream of [byHeaders, byKey]) {
      stream.send({ op: 'subscribe', channel: 'orders' })
      await data(stream, 'orders')
    }

    const revoked = await revocation(domain, client.trader, client.agent.address)
    await send(world.url(), 'DELETE', `${CHAIN_PATH}/agents/${client.agent.address}`, revoked)
    await send(world.url(), 'POST', `${CHAIN_PATH}/api-keys`, await keyIssue(domain, client.trader, 'x'))
    // An event of the account that neither socket may receive any more.
    await world.clientOf('trader-3', 'agent-4').then((other) => other.prepare(MARKET))
    assert.equal((await error(byHeaders)).code, 'AGENT_REVOKED')
    assert.equal((await error(byKey)).code, 'API_KEY_UNKNOWN')
    for (const stream of [byHeaders, byKey]) assert.ok(!stream.received.some(({ json }) => json.snapshot === false))
  })

  it('closes every socket with 1012 when the service stops', async () => {
    const stream = await open()
    await world.stopService()
    assert.equal(await stream.closed, 1012)
    await world.startService()
  })
})
