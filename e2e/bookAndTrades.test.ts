import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, type BookLevel, type OrderBook, type RecentTrade } from '@bezel/protocol'
import { call } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { PAIRS } from '../packages/devnet/src/listing/pairs.ts'
import { until } from '@bezel/testkit/until.ts'

const MARKET = '/v1/arbitrum-sepolia/markets/BTC-USD'
const MARK = 60_000
/** Half of the spread of BTC/USD in millionths: 10,000 to a percent, whose scale is 1e10. */
const HALF_SPREAD_PPM = Number(PAIRS[0]!.spreadP) / 2 / 10 ** 6

/** The steps in which the facade shows BTC, generously. */
const PRICE_STEP = 0.1
const SIZE_STEP = 0.0001

interface FacadeLevel {
  readonly px: string
  readonly sz: string
}

describe('the book and the trades of a market', () => {
  let world: TradingWorld
  let client: TradingClient

  before(async () => {
    world = await startTradingWorld()
    client = await world.clientOf('trader-1', 'agent-1')
  })
  after(() => world.stop())

  const bookNow = async (levels: number): Promise<OrderBook> =>
    (await call(world.url(), `${MARKET}/book?levels=${levels}`)).body
  const tradesNow = async (): Promise<RecentTrade[]> => (await call(world.url(), `${MARKET}/trades`)).body.data

  async function bands() {
    const contract = { address: world.chain.diamond, abi: diamondAbi } as const
    const [aboveUsd, belowUsd, above, below] = await world.chain.client.readContract({
      ...contract,
      functionName: 'getPairDepthBandsDecoded',
      args: [0n],
    })
    const offsets = await world.chain.client.readContract({ ...contract, functionName: 'getDepthBandsMappingDecoded' })
    return { aboveUsd, belowUsd, above, below, offsets }
  }

  it("the book is the Diamond's own bands around the mark, outside the spread", async () => {
    const { aboveUsd, belowUsd, above, below, offsets } = await bands()
    await until('the mark price', async () => (await bookNow(30)).markPrice === String(MARK))
    const book = await bookNow(30)
    const expected = (totalUsd: bigint, shares: readonly number[], direction: 1 | -1) =>
      shares.map((share, i) => [
        String((MARK * (1_000_000 + direction * (HALF_SPREAD_PPM + (offsets[i - 1] ?? 0)))) / 1_000_000),
        (Number(totalUsd) * share) / 10_000,
      ])
    const shown = (side: readonly BookLevel[]) => side.map(({ price, cumulativeUsd }) => [price, Number(cumulativeUsd)])
    assert.deepEqual(shown(book.asks), expected(aboveUsd, above, 1))
    assert.deepEqual(shown(book.bids), expected(belowUsd, below, -1))
    assert.deepEqual(book.asks.slice(0, 5), (await bookNow(5)).asks)
  })

  it('the book moves with the mark', async () => {
    await world.setPrice(61_000)
    await until('the mark price', async () => (await bookNow(1)).markPrice === '61000')
    const { asks, bids } = await bookNow(1)
    assert.ok(Number(asks[0]!.price) > 61_000 && Number(bids[0]!.price) < 61_000)
    await world.setPrice(MARK)
    await until('the mark price', async () => (await bookNow(1)).markPrice === String(MARK))
  })

  it('trades tell what everybody executed, newest first, and no change of leverage', async () => {
    assert.deepEqual(await tradesNow(), [])
    const open = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
    const { fill } = await client.trade(open, 'filled')
    await until('a trade', async () => (await tradesNow()).length === 1)
    const [opened] = await tradesNow()
    assert.deepEqual(
      [opened?.action, opened?.side, opened?.price, opened?.txHash],
      ['TradeOpenedMarket', 'long', fill?.price, fill?.txHash],
    )
    assert.ok(Math.abs(Number(opened?.sizeUsd) - Number(fill?.size) * Number(fill?.price)) < 1e-6)

    const [{ id }] = (await client.account('/positions', 'listPositions')).body.data
    const update = await client.request('updatePosition', 'PATCH', `/positions/${id}`, { leverage: '20' })
    assert.equal(update.status, 200, JSON.stringify(update.body))
    await client.broadcast(update.body.transaction)
    const actions = async () =>
      (await client.account('/fills', 'listFills')).body.data.map((of: RecentTrade) => of.action)
    await until('the last action', async () => (await actions())[0] === 'TradeLeverageUpdate')

    const close = await client.request('closePosition', 'POST', `/positions/${id}/close`, {})
    await client.broadcast(close.body.transaction)
    await client.orderOnce(close.body.order.id, ({ status }) => status === 'filled')
    assert.deepEqual(
      (await tradesNow()).map(({ action }) => action),
      ['TradeClosedMarket', 'TradeOpenedMarket'],
    )
    const last = (await call(world.url(), `${MARKET}/trades?limit=1`)).body.data as RecentTrade[]
    assert.deepEqual(
      last.map(({ action }) => action),
      ['TradeClosedMarket'],
    )
    assert.ok(last.every((trade) => !JSON.stringify(trade).includes(client.trader.address.toLowerCase().slice(2))))
  })

  it('the facade has the same book, and a small order pays its best price', async () => {
    const { asks, bids } = await bookNow(30)
    const answer = await fetch(`${world.url()}/hl/arbitrum-sepolia/info`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'l2Book', coin: 'BTC' }),
    })
    const { levels } = (await answer.json()) as { levels: [FacadeLevel[], FacadeLevel[]] }
    for (const [shown, side] of [
      [levels[0], bids],
      [levels[1], asks],
    ] as const) {
      assert.equal(shown.length, side.length)
      for (const [at, { px, sz }] of shown.entries()) {
        assert.ok(Math.abs(Number(px) - Number(side[at]!.price)) <= PRICE_STEP, `${px} and ${side[at]!.price}`)
        assert.ok(Math.abs(Number(sz) - Number(side[at]!.size)) <= SIZE_STEP, `${sz} and ${side[at]!.size}`)
      }
    }
    const small = { market: 'BTC/USD', type: 'market', size: '0.002', leverage: '10' }
    for (const [side, best] of [
      ['long', asks[0]!],
      ['short', bids[0]!],
    ] as const) {
      const { fill } = await client.trade({ ...small, side }, 'filled')
      assert.ok(Math.abs(Number(fill!.price) / Number(best.price) - 1) < 1e-6, `${fill!.price} and ${best.price}`)
    }
  })
})
