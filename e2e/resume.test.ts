import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, SigningDomain } from '@bezel/protocol'
import { TransactionNotFoundError, type Hex } from 'viem'
import { until } from '@bezel/testkit/until.ts'
import { call, signedHeaders } from '@bezel/testkit/agentClient.ts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startResumingReader, type ReadEvent, type ResumingReader } from './stream/resumingReader.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
/** Length of the log from which on it has pages of its own, and every kind of event. */
const MIN_EVENTS = 100
/** The number of cuts. After every second tenth of them the chain is reorganised, and twice the service crashes too. */
const CUTS = Number(process.env['CAMPAIGN_CUTS'] ?? 40)
/**
 * The longest time from the greeting to the cut, so that connections are cut before they subscribe, during replay, or
 * live.
 */
const MAX_CUT_MS = 120
const EVENTS_PATH = (address: string) => `/v1/arbitrum-sepolia/account/${address}/events`

describe(`a reader that is cut ${CUTS} times`, () => {
  let world: TradingWorld
  let domain: SigningDomain

  before(async () => {
    world = await startTradingWorld()
    domain = (await call(world.url(), '/v1/arbitrum-sepolia')).body.signing.domain
  })
  after(() => world?.stop())

  /** Trades in all ways until `isDone`, whatever the service answers. */
  async function keepTrading(client: TradingClient, isDone: () => boolean): Promise<void> {
    const steps = [
      () => client.prepare(MARKET),
      () => client.trade(MARKET, 'filled'),
      async () => {
        const { id } = await client.trade({ ...MARKET, type: 'limit', price: '50000' }, 'open')
        const canceled = await client.request('cancelOrder', 'DELETE', `/orders/${id}`)
        await client.broadcast(canceled.body.transaction)
      },
      async () => {
        const [position] = (await client.account('/positions', 'listPositions')).body.data
        const closing = await client.request('closePosition', 'POST', `/positions/${position.id}/close`, {})
        await client.broadcast(closing.body.transaction)
      },
    ]
    for (let at = 0; !isDone(); at += 1) {
      // A crash or a reorganisation during a step ends the step.
      await Promise.race([steps[at % steps.length]!(), sleep(4_000, undefined, { ref: false })]).catch(() => undefined)
    }
  }

  /** Makes events as fast as possible, without the chain. */
  async function keepPreparing(client: TradingClient, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      try {
        const { order } = await client.prepare({ ...MARKET, type: 'limit', price: '40000' })
        await client.request('cancelOrder', 'DELETE', `/orders/${order.id}`)
      } catch {
        await sleep(50)
      }
    }
  }

  async function cutAtRandom(reader: ResumingReader): Promise<void> {
    const random = createSeededRandom(4_711)
    for (let cut = 0; cut < CUTS; cut += 1) {
      await until('it is back', () => reader.isOpen())
      await sleep(random.below(MAX_CUT_MS))
      const tenth = cut / Math.ceil(CUTS / 10)
      if (tenth === 3 || tenth === 7) await world.crash()
      if (tenth % 2 === 1) await world.chain.control('bezel_reorg', 3, tenth % 4 === 1 ? 'drop' : 'remine')
      reader.cut()
    }
  }

  async function restLog(
    client: TradingClient,
    place: number,
    limit = 500,
  ): Promise<{ text: string; lastSeq: number; count: number }> {
    const path = `${EVENTS_PATH(client.trader.address)}?after=${place}&limit=${limit}`
    const headers = await signedHeaders(domain, client.agent, { operation: 'listEvents', method: 'GET', path })
    const answer = await fetch(world.url() + path, { headers })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    const { data, lastSeq } = JSON.parse(text) as { data: unknown[]; lastSeq: number }
    return { text, lastSeq, count: data.length }
  }

  it('has seen every event of the log exactly once, in order, byte for byte', async (t) => {
    const client = await world.clientOf('trader-1', 'agent-1')
    const reader = startResumingReader({ url: world.url, domain, agent: client.agent })
    let isDone = false
    t.after(() => {
      isDone = true
      return reader.stop()
    })
    const trading = Promise.all([keepTrading(client, () => isDone), keepPreparing(client, () => isDone)])
    await cutAtRandom(reader)
    // A log of several pages, however slowly the orders flow.
    await until('the log is long enough', () => reader.events.length > MIN_EVENTS)
    isDone = true
    await trading
    await takeBack(client, reader)
    await settled(client)
    await untilSameOrders(client, reader)

    const { lastSeq } = await restLog(client, 0)
    const missing = (): string => `${lastSeq} events, it has ${reader.events.length}`
    await until(missing, () => reader.events.length >= lastSeq)
    await reader.stop()

    assert.deepEqual(reader.snapshots, [])
    const bySeq = reader.events.toSorted((a, b) => a.seq - b.seq)
    assert.deepEqual(
      bySeq.map(({ seq }) => seq),
      Array.from({ length: bySeq.length }, (_, at) => at + 1),
    )
    for (const channel of ['orders', 'fills', 'positions', 'account'] as const) {
      const seqs = reader.events.filter((event) => event.channel === channel).map(({ seq }) => seq)
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => a - b),
      )
    }
    assert.ok(reader.connections() > CUTS, `${reader.connections()} connections`)
    assert.ok(
      bySeq.some(({ reverted }) => reverted),
      'a reorganisation was told',
    )
    await expectSameBytes(client, bySeq)
  })

  /** Reorganises until an event was reverted: the random reorganisations may all have hit empty blocks. */
  async function takeBack(client: TradingClient, reader: ResumingReader): Promise<void> {
    const isTold = (): boolean => reader.events.some(({ reverted }) => reverted)
    for (let tries = 0; !isTold() && tries < 5; tries += 1) {
      await client.trade({ ...MARKET, type: 'limit', price: '50000' }, 'open')
      await world.chain.control('bezel_reorg', 3, 'remine')
      await until('it is told', isTold, 5_000).catch(() => undefined)
      reader.cut()
    }
  }

  /**
   * Waits until no order is under way. An order whose transaction a reorganisation dropped stays pending until it
   * expires, long after this test.
   */
  async function settled(client: TradingClient): Promise<void> {
    let listed: unknown
    const moving = (): string => `nothing moves any more: ${JSON.stringify(listed)}`
    await until(moving, async () => {
      const { status, body } = await client.account('/orders', 'listOpenOrders')
      listed = body
      return status === 200 && !(await isAnyMoving(body.data))
    })
  }

  async function isAnyMoving(orders: readonly Order[]): Promise<boolean> {
    const pending = orders.filter(({ status }) => status === 'pending')
    return (await Promise.all(pending.map(({ txHash }) => isOnChain(txHash as Hex)))).includes(true)
  }

  function isOnChain(hash: Hex): Promise<boolean> {
    return world.chain.client.getTransaction({ hash }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof TransactionNotFoundError) return false
        throw error
      },
    )
  }

  async function expectSameBytes(client: TradingClient, events: readonly ReadEvent[]): Promise<void> {
    for (let place = 0; place < events.length;) {
      const { text, lastSeq, count } = await restLog(client, place, Math.min(500, events.length - place))
      const expected = events.slice(place, place + count).map(entryText)
      // assert.equal would print both texts.
      assert.ok(text === `{"data":[${expected.join(',')}],"lastSeq":${lastSeq}}`, `the page after ${place} differs`)
      place += count
    }
  }

  /**
   * Waits until the last event of each order equals the order as it is read. The reader goes on meanwhile, because a
   * transaction that a reorganisation took back can be mined again at any time.
   */
  async function untilSameOrders(client: TradingClient, reader: ResumingReader): Promise<void> {
    let differing: unknown
    const untold = (): string => `the log tells what is read, but for ${JSON.stringify(differing)}`
    await until(untold, async () => {
      const page = (await client.account('/orders/history?limit=500', 'listOrderHistory')).body.data as Order[]
      const told = new Map<string, string>()
      for (const { channel, data } of reader.events.toSorted((a, b) => a.seq - b.seq)) {
        if (channel === 'orders') told.set((JSON.parse(data) as Order).id, data)
      }
      // Prepared orders may expire while the test reads.
      const compared = page.filter(({ status }) => status !== 'prepared' && status !== 'expired')
      differing = compared.find((order) => told.get(order.id) !== JSON.stringify(order))
      return differing === undefined
    })
  }
})

function entryText({ seq, channel, timestamp, block, reverted, data }: ReadEvent): string {
  return `{"seq":${seq},"channel":"${channel}","timestamp":${timestamp},"block":${block},"reverted":${reverted},"data":${data}}`
}
