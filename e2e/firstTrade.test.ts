import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { writingSpans, type RecordedSpan } from '@bezel/testkit/recordSpans.ts'
import { secretsIn, secretsOfChain } from '@bezel/testkit/scanOutput.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const LONG = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

describe('a first trade', () => {
  let world: TradingWorld

  const folder = mkdtempSync(join(tmpdir(), 'bezel-spans-'))
  const spansFile = join(folder, 'spans.jsonl')

  before(async () => {
    world = await startTradingWorld({ service: writingSpans(spansFile) })
  })
  after(async () => {
    await world?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function openAndClose(client: TradingClient): Promise<void> {
    const { order, transaction } = await client.prepare({ ...LONG, clientId: 'first' })
    assert.equal(order.status, 'prepared')
    assert.equal(order.txHash, null)
    assert.equal(order.fill, null)
    assert.equal(order.price, null)
    assert.equal(order.expiresAt, transaction.expiresAt)
    assert.equal(transaction.to, world.chain.diamond)
    assert.equal(transaction.value, '0')

    const hash = await client.broadcast(transaction)
    const submitted = await client.submit(order.id, hash)
    assert.equal(submitted.status, 200, JSON.stringify(submitted.body))
    const filled = await client.orderOnce(order.id, ({ status }) => status === 'filled')
    assert.equal(filled.txHash, hash)
    assert.equal(filled.size, '0.02')
    assert.equal(filled.expiresAt, null)
    assert.ok(filled.fill !== null)
    assert.ok(Math.abs(Number(filled.fill.size) - 0.02) < 0.0001, filled.fill.size)
    assert.ok(Number(filled.fill.feeCollateral) > 0)

    const positions = (await client.account('/positions', 'listPositions')).body.data
    assert.equal(positions.length, 1)
    const [position] = positions
    assert.equal(position.id, filled.fill.positionId)
    assert.equal(position.market, 'BTC/USD')
    assert.equal(position.side, 'long')
    assert.equal(position.entryPrice, filled.fill.price)
    assert.equal(position.markPrice, '60000')
    assert.equal(position.sl, '0')

    const closing = await client.request('closePosition', 'POST', `/positions/${position.id}/close`, {})
    assert.equal(closing.status, 200, JSON.stringify(closing.body))
    assert.equal(closing.body.order.reduceOnly, true)
    assert.equal(closing.body.order.side, 'short')
    const closeHash = await client.broadcast(closing.body.transaction)
    await client.submit(closing.body.order.id, closeHash)
    const closed = await client.orderOnce(closing.body.order.id, ({ status }) => status === 'filled')
    assert.equal(closed.fill?.positionId, position.id)
    assert.deepEqual((await client.account('/positions', 'listPositions')).body.data, [])

    const fills = (await client.account('/fills', 'listFills')).body.data
    assert.deepEqual(
      fills.map(({ action }: { action: string }) => action),
      ['TradeClosedMarket', 'TradeOpenedMarket'],
    )
    const history = (await client.account('/orders/history', 'listOrderHistory')).body
    assert.deepEqual(
      history.data.map(({ id }: { id: string }) => id),
      [closed.id, order.id],
    )
    assert.deepEqual((await client.account('/orders', 'listOpenOrders')).body.data, [])
  }

  it('leads an agent from its authorisation to a closed position', async () => {
    await openAndClose(await world.clientOf('trader-1', 'agent-1'))
  })

  it('works for a trader that is its own agent, without delegation', async () => {
    await openAndClose(await world.clientOf('trader-2', 'trader-2'))
  })

  it('is told in spans, to whoever registers a provider: the order with its signature, its trip and its commit', async () => {
    const text = await until('the spans are written', () => {
      const written = readFileSync(spansFile, 'utf8')
      const isTold = /"name":"request".*"createOrder"/.test(written) && /"name":"relay"/.test(written)
      return isTold ? written : undefined
    })
    const lines = text.slice(0, text.lastIndexOf('\n')).split('\n')
    const spans = lines.map((line) => JSON.parse(line) as RecordedSpan)
    const isOrder = ({ name, attributes }: RecordedSpan): boolean =>
      name === 'request' && attributes['bezel.operation'] === 'createOrder' && attributes['bezel.status'] === 201
    const order = spans.find(isOrder)
    assert.ok(order !== undefined)
    assert.equal(order.parentId, undefined)
    const children = spans.filter(({ parentId }) => parentId === order.spanId).map(({ name }) => name)
    assert.deepEqual([...new Set(children)].toSorted(), ['rpc', 'store', 'verify'])
    assert.deepEqual(secretsIn(text, secretsOfChain(world.devnet.file)), [])
  })
})
