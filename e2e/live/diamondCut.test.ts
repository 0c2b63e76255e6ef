import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { diamondAbi, type Order } from '@bezel/protocol'
import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { startFacadeWorld, type FacadeWorld } from '../facade/facadeWorld.ts'
import { connectRaw, envelopeOf, postRaw } from '../facade/rawExchange.ts'

const CHAIN = 'arbitrum-sepolia'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

/** Facet that has the functions which these stories take away. */
const FACET = 'TradingInteractionsFacet'

const SERVICE = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))

/** An upgrade of the Diamond under a running service. */
describe('a cut of the Diamond', () => {
  let world: FacadeWorld
  let client: TradingClient
  let facadeAgent: PrivateKeyAccount
  let positionId: string
  let tradeIndex: number

  before(async () => {
    world = await startFacadeWorld()
    client = await world.clientOf('trader-1', 'agent-1')
    facadeAgent = await connectRaw(world, 'trader-2', 'agent-2')
    positionId = (await client.trade(MARKET, 'filled')).fill!.positionId!
    const { chain } = world
    const args = [chain.account('trader-1').address] as const
    const of = { address: chain.diamond, abi: diamondAbi, functionName: 'getTrades', args } as const
    tradeIndex = (await chain.client.readContract(of)).at(-1)!.index
  })
  after(() => world?.stop())
  beforeEach(() => untilReady())

  const cut = (action: 'replace' | 'remove', name: string): Promise<Hex> =>
    world.chain.control<Hex>('bezel_cutDiamond', action, name)

  const ready = (): Promise<Answer> => call(world.url(), '/ready')

  function untilReady(): Promise<boolean> {
    return until('the service is ready', async (saw) => {
      const { status, body } = await ready()
      saw(body)
      return status === 200
    })
  }

  /** Waits until `/ready` says that the contracts changed, in words that match. */
  function untilChanged(words: RegExp): Promise<boolean> {
    return until(`the service says ${words}`, async (saw) => {
      const { status, body } = await ready()
      saw(body)
      const { reason, relayer, diamondWarning = '' } = body.chains[CHAIN]
      return status === 503 && reason === 'diamond_changed' && !relayer && words.test(diamondWarning)
    })
  }

  /** Returns the sum of a series over its labels. */
  async function metric(series: string): Promise<number> {
    const lines = (await (await fetch(`${world.url()}/metrics`)).text()).split('\n')
    const values = lines.filter((line) => line.startsWith(`${series}{`)).map((line) => Number(line.split(' ').at(-1)))
    return values.reduce((sum, value) => sum + value, 0)
  }

  async function assertWritesOff(): Promise<void> {
    const answers = await Promise.all([
      client.request('createOrder', 'POST', '/orders', MARKET),
      client.request('closePosition', 'POST', `/positions/${positionId}/close`, {}),
      client.request('updatePosition', 'PATCH', `/positions/${positionId}`, { sl: '57000' }),
      client.request('flatten', 'POST', '/flatten', {}),
    ])
    for (const { status, body, headers } of answers) {
      const refusal = [status, body.code, body.details?.reason, headers.get('retry-after')]
      assert.deepEqual(refusal, [503, 'NOT_READY', 'diamond_changed', '1'], JSON.stringify(body))
    }
    for (const isReducing of [false, true]) {
      const orders = [{ a: 0, b: !isReducing, p: '50000', s: '0.02', r: isReducing, t: { limit: { tif: 'Gtc' } } }]
      const envelope = await envelopeOf(facadeAgent, { type: 'order', orders, grouping: 'na' })
      const { status, text } = await postRaw(world, envelope)
      const { code, message, details } = JSON.parse(text)
      assert.deepEqual([status, code, details.reason], [503, 'NOT_READY', 'diamond_changed'], text)
      assert.match(message, /^The contracts of this chain have changed/)
    }
  }

  async function assertReadsGoOn(): Promise<void> {
    const answers = await Promise.all([
      client.account('/positions', 'listPositions'),
      client.account('/orders/history', 'listOrderHistory'),
      client.account('/fills', 'listFills'),
      client.account('', 'getAccount'),
      call(world.url(), `/v1/${CHAIN}/markets`),
    ])
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body))
    assert.ok(answers[0]!.body.data.some(({ id }: { id: string }) => id === positionId))
    const state = await world.info({ type: 'clearinghouseState', user: world.chain.account('trader-1').address })
    assert.equal(state.assetPositions.length, 1)
  }

  /** Moves the stop loss of the position, which takes a prepared transaction and an event of the chain. */
  async function assertTrades(sl: string): Promise<void> {
    const answer = await client.request('updatePosition', 'PATCH', `/positions/${positionId}`, { sl })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    await client.broadcast(answer.body.transaction)
    await until(`the stop loss is ${sl}`, async (saw) => {
      const { body } = await client.account('/positions', 'listPositions')
      saw(body)
      return body.data?.find(({ id }: { id: string }) => id === positionId)?.sl === sl
    })
  }

  it('that replaces a facet is noticed and checked, and trading goes on', async () => {
    const cuts = await metric('bezel_diamond_cuts_total')
    await cut('replace', FACET)
    await until('the cut is counted', async () => (await metric('bezel_diamond_cuts_total')) === cuts + 1)
    await untilReady()
    await assertTrades('56001')
  })

  it('that takes a function away turns writes off by name, until it is back', async () => {
    const { order: unsent } = await client.prepare({ ...MARKET, type: 'limit', price: '50000' })
    await cut('remove', 'updateSl')
    await untilChanged(/does not answer updateSl \(0x[0-9a-f]{8}\)/)
    assert.equal(await metric('bezel_diamond_changed'), 1)
    await assertWritesOff()
    await assertReadsGoOn()
    const { status, body } = await client.request('cancelAllOrders', 'DELETE', '/orders')
    assert.deepEqual([status, body.transaction], [200, null], JSON.stringify(body))
    assert.deepEqual(
      body.orders.map((order: Order) => [order.id, order.status]),
      [[unsent.id, 'expired']],
    )
    await cut('replace', FACET)
    await untilReady()
    assert.equal(await metric('bezel_diamond_changed'), 0)
    await assertTrades('56002')
  })

  it('that changes the layout of an event turns writes off at its first log, until the next cut', async () => {
    await cut('replace', 'OtherLayoutFacet')
    await untilReady()
    await world.chain.send(world.chain.account('trader-1'), 'updateTp', [tradeIndex, 0n])
    await untilChanged(/emits TradeTpUpdated in a layout that this build does not know/)
    assert.equal(await metric('bezel_diamond_undecoded_logs_total'), 1)
    await assertWritesOff()
    await assertReadsGoOn()
    await cut('replace', FACET)
    await untilReady()
    await assertTrades('56003')
  })

  it('is no reason to refuse writes after it was undone', async () => {
    const { client: node, control } = world.chain
    const { blockNumber } = await node.getTransactionReceipt({ hash: await cut('remove', 'updateSl') })
    await untilChanged(/updateSl/)
    await control('bezel_reorgFrom', Number(blockNumber), 'drop')
    await untilReady()
    await assertTrades('56004')
  })

  it('before the start keeps the service from starting, which says which function is missing', async () => {
    await world.stopService()
    await cut('remove', 'updateSl')
    const env = { ...process.env, PORT: '0', BEZEL_DATA: world.devnet.folder }
    const sentence = /The Diamond at 0x\w+ on arbitrum-sepolia does not answer updateSl \(0x[0-9a-f]{8}\): correct/
    await assert.rejects(promisify(execFile)(process.execPath, [SERVICE], { env }), sentence)
    await cut('replace', FACET)
    await world.startService()
    await assertTrades('56005')
  })
})
