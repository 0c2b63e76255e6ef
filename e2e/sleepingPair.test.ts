import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Position, MarketPrice } from '@bezel/protocol'
import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import type { Lie } from './outages/faultyProxy.ts'
import { startOutageWorld, type OutageWorld } from './outages/outageWorld.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const AVAX = { market: 'AVAX/USD', side: 'long', type: 'market', size: '100', leverage: '5' }
const PAIR_INDEX = 102
/** Silence after which a pair counts as quiet: longer than BTC is unheard on a busy machine, shorter than a minute. */
const QUIET_MS = 4_000

/** Says a wrong price of AVAX on the page of all prices, and the truth on every other. */
const WRONG_CHART: Lie = async (_asked, honest) => {
  const text = await honest()
  const page = JSON.parse(text) as { closes?: number[] }
  if (page.closes === undefined) return { text }
  return { text: JSON.stringify({ ...page, closes: page.closes.with(PAIR_INDEX, 20) }) }
}

describe('a pair that sleeps while its position is listed, protected and closed', () => {
  let world: OutageWorld
  let client: TradingClient
  let asleepSince: number

  before(async () => {
    world = await startOutageWorld({ BEZEL_QUIET_PRICE_MS: String(QUIET_MS), BEZEL_MARKETS_REFRESH_MS: '2000' })
    client = await world.clientOf('trader-1', 'agent-1')
    await world.chain.control('bezel_freezePrice', 'AVAX/USD', true)
    await movePrice({ chain: world.chain, url: () => world.service.url }, 'AVAX/USD', '16')
    await client.trade({ ...AVAX, market: 'BTC/USD', size: '0.02' }, 'filled')
    await client.trade(AVAX, 'filled')
    await world.chain.control('bezel_sleepPrice', 'AVAX/USD', true)
    asleepSince = await until('the pair is quiet', async (saw) => {
      const [btc, asleep] = [await priceOf('BTC/USD'), await priceOf('AVAX/USD')]
      saw([btc, asleep])
      if (btc === undefined || asleep === undefined) return undefined
      return btc.updatedAt - asleep.updatedAt > QUIET_MS ? asleep.updatedAt : undefined
    })
  })
  after(() => world?.stop())

  const get = (path: string): Promise<Answer> => call(world.service.url, path)
  const create = (body: unknown): Promise<Answer> => client.request('createOrder', 'POST', '/orders', body)
  const previewOf = (body: Record<string, string>): Promise<Answer> =>
    client.account(`/preview/order?${new URLSearchParams(body).toString()}`, 'previewOrder')
  async function priceOf(market: string): Promise<MarketPrice | undefined> {
    const { body } = await get(`${CHAIN}/prices`)
    return (body.data as MarketPrice[] | undefined)?.find((price) => price.market === market)
  }
  async function positions(): Promise<Position[]> {
    const { status, body } = await client.account('/positions', 'listPositions')
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const avax = async (): Promise<Position> => (await positions()).find(({ market }) => market === 'AVAX/USD')!

  it('is listed with its last mark and the time of that, beside one that ticks', async () => {
    const listed = await positions()
    assert.deepEqual(
      listed.map(({ market }) => market),
      ['BTC/USD', 'AVAX/USD'],
    )
    assert.deepEqual([listed[1]!.markPrice, listed[1]!.priceAt], ['16', asleepSince])
    assert.ok(listed[0]!.priceAt > asleepSince)
    for (const path of ['/markets', '/markets/AVAX-USD', '/markets/AVAX-USD/book', '/markets/AVAX-USD/funding']) {
      assert.equal((await get(CHAIN + path)).status, 200, path)
    }
    assert.equal((await get('/ready')).status, 200)
  })

  it('opens nothing without the word of a second witness, and BTC goes on', async () => {
    world.feed.fault = { kind: 'down' }
    const { status, body } = await create(AVAX)
    const details = { reason: 'feed_stale', market: 'AVAX/USD' }
    assert.deepEqual([status, body.code, ownDetails(body.details)], [503, 'NOT_READY', details])
    assert.equal((await create({ ...AVAX, type: 'limit', price: '10' })).status, 503)
    const refused = await previewOf(AVAX)
    assert.deepEqual([refused.status, ownDetails(refused.body.details)], [503, details])
    assert.equal((await previewOf({ ...AVAX, market: 'BTC/USD', size: '0.02' })).status, 200)
    assert.equal((await create({ ...AVAX, market: 'BTC/USD', size: '0.02' })).status, 201)

    world.feed.fault = { kind: 'none' }
    await until('the witness is asked again', async (saw) => {
      const { status: now, body: answer } = await create(AVAX)
      saw(answer)
      return now === 201
    })
    const expected = await previewOf(AVAX)
    assert.deepEqual([expected.status, expected.body.oraclePrice], [200, '16'], JSON.stringify(expected.body))
    const { fill } = await client.trade(AVAX, 'filled')
    assert.ok(Math.abs(Number(fill!.price) - 16) < 0.01, 'the oracle answers for a sleeping pair')

    world.feed.fault = { kind: 'lies', lie: WRONG_CHART }
    await until('the witness says another price', async (saw) => {
      const { body: answer } = await create(AVAX)
      saw(answer)
      return answer.details !== undefined && isDeepStrictEqual(ownDetails(answer.details), details)
    })
    world.feed.fault = { kind: 'none' }
  })

  it('is protected and closed with the last mark, which is called old', async () => {
    const { id } = await avax()
    const protect = (): Promise<Answer> =>
      client.request('updatePosition', 'PATCH', `/positions/${id}`, { sl: '15', tp: '18' })
    const prepared = await until('the price is old', async () => {
      const { status, body } = await protect()
      assert.equal(status, 200, JSON.stringify(body))
      return body.warnings !== undefined && body
    })
    assert.deepEqual([prepared.warnings[0].code, prepared.warnings[0].value], ['price_old', '16'])
    await client.broadcast(prepared.transaction)
    await until('it is protected', async () => {
      const { sl, tp } = await avax()
      return sl === '15' && tp === '18'
    })
    const previewed = await client.account(`/preview/close/${id}`, 'previewClose')
    assert.deepEqual([previewed.status, previewed.body.warnings?.[0]?.code], [200, 'price_old'])
    const close = await client.request('closePosition', 'POST', `/positions/${id}/close`, {})
    assert.equal(close.status, 200, JSON.stringify(close.body))
    assert.equal(close.body.warnings[0].code, 'price_old')
    await client.broadcast(close.body.transaction)
    await client.orderOnce(close.body.order.id, ({ status }) => status === 'filled')
    await until('it is gone', async () => !(await positions()).some((position) => position.id === id))
  })

  it('wakes, and is priced as before', async () => {
    await world.chain.control('bezel_sleepPrice', 'AVAX/USD', false)
    await world.chain.control('bezel_setPrice', 'AVAX/USD', '17')
    await until('the price moved', async (saw) => {
      const position = await avax()
      saw(position)
      return position.markPrice === '17'
    })
    assert.ok((await avax()).priceAt > asleepSince)
    assert.equal((await create(AVAX)).status, 201)
  })
})
