import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi } from '@bezel/protocol'
import { ExchangeClient, HttpTransport, InfoClient, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { call, keyIssue, send, type Answer } from '@bezel/testkit/agentClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { formatUnits, parseUnits } from 'viem'
import { FACADE_CHANNELS } from '../../packages/server/src/facade/stream/channels/facadeChannel.ts'
import { INFO_TYPES } from '../../packages/server/src/facade/info/infoTypes.ts'
import { patient, TIMEOUT_MS } from '../facade/patience.ts'
import { envelopeOf, postRaw } from '../facade/rawExchange.ts'
import { openStream } from '../stream/streamClient.ts'
import { subscribeRaw } from './facadeSockets.ts'
import { SLUG, startExistingWorld, type ChainTrade, type ExistingWorld } from './existingWorld.ts'
import { meddleWith, type AskedView } from './meddlingNode.ts'

const CHAIN = `/v1/${SLUG}`

/** Number of entries of the list of traders that one part of a snapshot covers. */
const PART = 500

const BTC = 0

/** Types that tell of a user, and of nothing that it trades: its agents, its wallet and its next leverage. */
const NOT_OF_TRADING: ReadonlySet<string> = new Set(['extraAgents', 'activeAssetData'])

const NOBODY = `0x${'12'.repeat(20)}`

type Placed = Awaited<ReturnType<ExchangeClient['order']>>['response']['data']['statuses'][number]

/**
 * The traders have: (1) two long trades, one with a stop loss, and a resting order; (2) a short; (3) a request that
 * timed out. The node tells of the second one in the second part of the snapshot only. Each story continues where the
 * last one ended.
 */
describe('traders of the facade who trade before the service exists', () => {
  let world: ExistingWorld
  let info: InfoClient
  let exchange: ExchangeClient
  const keys = new Map<string, string>()
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  /** Blocks at which the parts of the list of traders were asked for, by the first entry of the part. */
  const parts: { readonly from: number; readonly block: unknown }[] = []
  let isLying = true
  /** Types of `/info` that were refused in the second half of the snapshot. */
  let refused: ReadonlySet<string>

  before(async () => {
    world = await startExistingWorld()
    const { chain } = world
    await Promise.all([
      (async () => {
        await world.open('trader-1', { sl: 55_000n })
        await world.open('trader-1', { amount: '200' })
        await world.open('trader-1', { tradeType: 1, price: 50_000n })
      })(),
      world.open('trader-2', { long: false }),
    ])
    const relayer = chain.account('relayer').address
    await Promise.all(
      ['trader-1', 'trader-2', 'trader-3'].map((trader) =>
        chain.send(chain.account(trader), 'setTradingDelegate', [relayer]),
      ),
    )
    await chain.control('bezel_pauseOracle', true)
    await world.ask('trader-3')
    const request = { address: chain.diamond, abi: diamondAbi, functionName: 'getMarketOrdersTimeoutBlocks' } as const
    await chain.control('hardhat_mine', await chain.client.readContract(request))
    world.node.fault = { kind: 'lies', lie: meddleWith({ view: answerView }) }
  })
  after(async () => {
    released.resolve()
    await world?.stop()
  })

  /** Answers as the Diamond does, but for the list of traders, and for the trade of the second one. */
  async function answerView({ name, args, block, honest }: AskedView): Promise<unknown> {
    const second = world.address('trader-2')
    if (name === 'getTradersCount') return PART + 1
    if (name === 'getTraders') {
      const [from] = args as [number]
      parts.push({ from, block })
      if (from === 0) return ['trader-1', 'trader-3'].map(world.address)
      held.resolve()
      await released.promise
      return [second]
    }
    if (name !== 'getAllTradesForTraders' || !isLying) return honest
    return (honest as ChainTrade[]).map((trade) => (trade.user === second ? { ...trade, isOpen: false } : trade))
  }

  const base = (): string => `${world.url()}/hl/${SLUG}`

  async function askInfo(type: string, user?: string): Promise<{ readonly status: number; readonly text: string }> {
    const req = { coin: 'BTC', interval: '1m', startTime: 0 }
    const body = JSON.stringify({ type, user, coin: 'BTC', startTime: 0, oid: 1, req, id: 1 })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${base()}/info`, { method: 'POST', headers, body })
    return { status: answer.status, text: await answer.text() }
  }

  /** Reads an account natively, with a key that its owner issued. */
  async function readOwn(trader: string, path: string): Promise<Answer> {
    const headers = { 'x-service-api-key': await keyOf(trader) }
    return call(world.url(), `${CHAIN}/account/${world.address(trader)}${path}`, { headers })
  }

  async function keyOf(trader: string): Promise<string> {
    const known = keys.get(trader)
    if (known !== undefined) return known
    const { domain } = (await call(world.url(), CHAIN)).body.signing
    const body = await keyIssue(domain, world.chain.account(trader), 'reader')
    const issued = await send(world.url(), 'POST', `${CHAIN}/api-keys`, body)
    assert.equal(issued.status, 200, JSON.stringify(issued.body))
    keys.set(trader, issued.body.apiKey)
    return issued.body.apiKey
  }

  /** Names the types of `/info` that answer with `NOT_READY`; the others must have an answer. */
  async function refusedInfo(trader: string): Promise<string[]> {
    const types: string[] = []
    for (const type of Object.keys(INFO_TYPES)) {
      const { status, text } = await askInfo(type, world.address(trader))
      if (status === 200) continue
      const { code, details } = JSON.parse(text)
      assert.deepEqual([status, code, details.reason], [503, 'NOT_READY', 'snapshot'], `${type}: ${text}`)
      types.push(type)
    }
    return types
  }

  /**
   * Fails unless everything that would tell what a trader has is refused, natively and on the facade. Returns the types
   * of `/info` that were.
   */
  async function assertUnknown(trader: string): Promise<ReadonlySet<string>> {
    for (const path of ['', '/positions', '/orders', '/orders/history', '/fills', '/events']) {
      const { status, body, headers } = await readOwn(trader, path)
      const refusal = [status, body.code, body.details?.reason, headers.get('retry-after')]
      assert.deepEqual(refusal, [503, 'NOT_READY', 'snapshot', '1'], path)
    }
    const stream = await openStream(world.url(), { headers: { 'x-service-api-key': await keyOf(trader) } })
    for (const subscription of [{ channel: 'positions' }, { channel: 'orders', fromSeq: 1 }]) {
      stream.send({ op: 'subscribe', ...subscription })
      const { json } = await stream.next('a refusal', ({ op, channel }) => op === 'error' || channel !== undefined)
      assert.equal(json.code ?? json.error?.code, 'NOT_READY', JSON.stringify(json))
    }
    await stream.close()
    const types = new Set(await refusedInfo(trader))
    assert.ok(types.has('clearinghouseState') && types.has('openOrders') && !types.has('meta'))
    return types
  }

  it('are told nothing in the second half of the snapshot, whoever is known by then', async () => {
    await world.launch()
    await held.promise
    const { body } = await call(world.url(), '/ready')
    assert.deepEqual([body.ready, body.chains[SLUG].reason], [false, 'snapshot'])
    assert.equal((await call(world.url(), CHAIN)).body.knownSince, null)
    assert.equal((await call(world.url(), `${CHAIN}/markets`)).status, 200)
    refused = await assertUnknown('trader-1')
    for (const trader of ['trader-2', 'trader-5']) assert.deepEqual(await assertUnknown(trader), refused)
    const answers = await subscribeRaw(`${base()}/ws`, FACADE_CHANNELS, world.address('trader-1'))
    const channels = [
      'clearinghouseState',
      'openOrders',
      'webData2',
      'orderUpdates',
      'userEvents',
      'userFills',
    ] as const
    for (const channel of channels) assert.match(answers.get(channel)!, /^error .*still reading what is open/)
  })

  it('register meanwhile, and can do nothing yet', async () => {
    const transport = new HttpTransport({ apiUrl: `${base()}/`, timeout: TIMEOUT_MS })
    for (const n of [1, 2, 3]) {
      const master = new ExchangeClient({ transport, wallet: world.chain.account(`trader-${n}`) })
      await master.approveAgent({ agentAddress: world.address(`agent-${n}`), agentName: 'bot' })
    }
    const actions = [
      { type: 'order', orders: [{ a: BTC, b: false, p: '50000', s: '0.01', r: true, t: { limit: { tif: 'Ioc' } } }] },
      { type: 'cancel', cancels: [{ a: BTC, o: 1 }] },
      { type: 'updateIsolatedMargin', asset: BTC, isBuy: true, ntli: 10_000_000 },
    ]
    for (const action of actions) {
      const full = action.type === 'order' ? { ...action, grouping: 'na' } : action
      const envelope = await envelopeOf(world.chain.account('agent-1'), full)
      const { status, text } = await postRaw({ base: base() }, envelope)
      assert.deepEqual([status, JSON.parse(text).details?.reason], [503, 'snapshot'], text)
    }
  })

  it('wait no longer for a restart in the middle: the snapshot goes on at its block', async () => {
    await world.kill()
    released.resolve()
    const asked = parts.length
    const { block } = parts.findLast(({ from }) => from === 0)!
    await world.launch()
    await world.untilReady()
    assert.deepEqual(parts[asked], { from: PART, block })
    const transport = new HttpTransport({ apiUrl: `${base()}/`, timeout: TIMEOUT_MS })
    info = patient(new InfoClient({ transport }))
    exchange = patient(new ExchangeClient({ transport, wallet: world.chain.account('agent-1') }))
    const { knownSince } = (await call(world.url(), CHAIN)).body
    // A node that is starved of time may fail so often that the snapshot begins anew at a later block.
    assert.equal(knownSince.block, Number(parts.findLast(({ from }) => from === PART)!.block))
  })

  it('are refused alone when the counters of the chain say that something is missing', async () => {
    await assertUnknown('trader-2')
    const metrics = await (await fetch(`${world.url()}/metrics`)).text()
    assert.match(metrics, new RegExp(`^bezel_unproven_traders{chain="${SLUG}"} 1$`, 'm'))
    const { body } = await readOwn('trader-1', '/positions')
    assert.equal(body.data.length, 2)
    isLying = false
    await until('the second one is proven', async () => (await readOwn('trader-2', '/positions')).status === 200)
    const [position, ...others] = (await readOwn('trader-2', '/positions')).body.data
    const [trade] = (await world.openOf('trader-2')).positions
    assert.deepEqual([position.size, others], [formatUnits(trade!.positionSizeToken, 18), []])
  })

  it('were refused by every type that tells of what they trade', async () => {
    for (const type of Object.keys(INFO_TYPES)) {
      if ((await askInfo(type)).status === 200) continue
      const [own, nobodys] = await Promise.all([world.address('trader-1'), NOBODY].map((of) => askInfo(type, of)))
      const isSame = withoutTimes(own!.text) === withoutTimes(nobodys!.text)
      if (!isSame && !NOT_OF_TRADING.has(type)) assert.ok(refused.has(type), type)
    }
  })

  const user = () => world.address('trader-1')
  const heldSize = async () => (await info.clearinghouseState({ user: user() })).assetPositions[0]?.position.szi
  const placed = async (item: object): Promise<Placed> => {
    const order = { a: BTC, b: false, r: true, ...item } as never
    return (await exchange.order({ orders: [order], grouping: 'na' })).response.data.statuses[0]!
  }

  it('see the whole position, its stop and the resting order', async () => {
    const { positions, resting } = await world.openOf('trader-1')
    const size = positions.reduce((sum, { positionSizeToken }) => sum + positionSizeToken, 0n)
    const [{ position } = assert.fail('a position')] = (await info.clearinghouseState({ user: user() })).assetPositions
    assert.ok(Math.abs(Number(position.szi) - Number(formatUnits(size, 18))) <= 0.00001, position.szi)
    const orders = await info.frontendOpenOrders({ user: user() })
    const [stop, limit] = [orders.find(({ isTrigger }) => isTrigger), orders.find(({ isTrigger }) => !isTrigger)]
    assert.deepEqual([orders.length, Number(stop!.triggerPx), Number(limit!.limitPx)], [2, 55_000, 50_000])
    assert.equal(parseUnits(limit!.limitPx, 10), resting[0]!.openPrice)
    const open = await info.openOrders({ user: user() })
    assert.deepEqual(new Set(open.map(({ oid }) => oid)), new Set(orders.map(({ oid }) => oid)))
    assert.deepEqual(await info.userFills({ user: user() }), [])
  })

  it('get back what the oracle did not answer, without asking', async () => {
    await until('it is reclaimed', async () => (await world.openOf('trader-3')).requests.length === 0)
    const orders = await info.frontendOpenOrders({ user: world.address('trader-3') })
    assert.deepEqual(orders, [])
  })

  it('cancel the resting order by its id', async () => {
    const orders = await info.frontendOpenOrders({ user: user() })
    const { oid } = orders.find(({ isTrigger }) => !isTrigger)!
    await exchange.cancel({ cancels: [{ a: BTC, o: oid }] })
    await until('it is gone', async () => (await world.openOf('trader-1')).resting.length === 0)
    const found = await info.orderStatus({ user: user(), oid })
    assert.equal(found.status === 'order' && found.order.status, 'canceled')
  })

  it('protect all of it, and take that back', async () => {
    const size = (await heldSize())!
    const t = { trigger: { isMarket: true, triggerPx: '66000', tpsl: 'tp' } }
    const status = await placed({ p: '66000', s: size, t })
    const oid = typeof status === 'object' && 'resting' in status ? status.resting.oid : assert.fail(`${status}`)
    const profits = async () => (await world.openOf('trader-1')).positions.map(({ tp }) => tp)
    const price = parseUnits('66000', 10)
    await until('both trades have it', async () => (await profits()).every((tp) => tp === price))
    await exchange.cancel({ cancels: [{ a: BTC, o: oid }] })
    await until('none has it', async () => (await profits()).every((tp) => tp === 0n))
  })

  it('add margin, and close, while the streams tell of it', async () => {
    await world.chain.control('bezel_pauseOracle', false)
    const socket = new WebSocketTransport({ url: `${base().replace('http', 'ws')}/ws`, timeout: TIMEOUT_MS })
    const subscriptions = new SubscriptionClient({ transport: socket })
    const sizes: string[] = []
    await subscriptions.clearinghouseState({ user: user() }, ({ clearinghouseState: { assetPositions } }) => {
      sizes.push(assetPositions[0]?.position.szi ?? '0')
    })
    await until('the state is told', () => sizes.length > 0)
    assert.equal(sizes[0], await heldSize())
    const margin = async () =>
      (await world.openOf('trader-1')).positions.reduce((sum, { collateralAmount }) => sum + collateralAmount, 0n)
    const start = await margin()
    await exchange.updateIsolatedMargin({ asset: BTC, isBuy: true, ntli: 30_000_000 }).catch((error: unknown) => {
      assert.match(String(error), /margin moved so far/)
    })
    await until('the margin is there', async () => (await margin()) > start + 25_000_000n)
    const size = (await heldSize())!
    const status = await placed({ p: '57000', s: size, t: { limit: { tif: 'Ioc' } } })
    assert.ok(typeof status === 'object' && !('error' in status), JSON.stringify(status))
    await until('it is closed', async () => (await world.openOf('trader-1')).positions.length === 0)
    await until('it is told', () => sizes.at(-1) === '0')
    const fills = await info.userFills({ user: user() })
    assert.deepEqual(new Set(fills.map(({ dir }) => dir)), new Set(['Close Long']))
    assert.equal(fills.length, 2)
    await socket.close()
  })
})

/** Takes the times out of an answer, which differ between two requests. */
function withoutTimes(text: string): string {
  return text.replaceAll(/"(time|serverTime)":\d+/g, '')
}
