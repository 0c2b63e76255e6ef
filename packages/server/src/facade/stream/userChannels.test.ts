import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { until } from '@bezel/testkit/until.ts'
import { notReady } from '../../ground/unavailable.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { ALICE, livePosition } from '../testing/facadeWorld.ts'
import { FACADE_CHANNELS, type FacadeChannelName } from './channels/facadeChannel.ts'
import { aliceSteps, fillOrder, keepPosition, moveOrder, placeOrder } from './testing/aliceTrades.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

interface Update {
  readonly order: { readonly coin: string; readonly oid: number; readonly sz: string; readonly limitPx: string }
  readonly status: string
  readonly statusTimestamp: number
}

interface Fills {
  readonly user?: string
  readonly isSnapshot?: boolean
  readonly fills: readonly { readonly tid: number; readonly oid: number }[]
}

const AGENT = parseAddress(`0x${'ce'.repeat(20)}`)!

const BOB = parseAddress(`0x${'bb'.repeat(20)}`)!

const USER = ALICE.toLowerCase()

let world: FacadeStreamWorld

let client: FacadeClient

beforeEach(async () => {
  world = await startFacadeStream()
  client = await world.connect()
})

afterEach(async () => {
  deepEqual(world.errors, [])
  await world.close()
})

const { store, info, move } = aliceSteps(() => world)

const tidsOf = ({ fills }: Fills): number[] => fills.map(({ tid }) => tid)

const updates = (of = client): Update[] => of.dataOf<Update[]>('orderUpdates').flat()

describe('orderUpdates', () => {
  it('tell each event of an order from now on, as it was then', async () => {
    await placeOrder(store(), 7)
    await move(7, {})
    await client.subscribe({ type: 'orderUpdates', user: USER })
    // Both are stored before either is read.
    const pending = await moveOrder(store(), 7, { status: 'pending', updatedAtMs: 6_000 })
    const filled = await moveOrder(store(), 7, { status: 'filled', updatedAtMs: 7_000 })
    await world.append('orders', pending)
    await world.append('orders', filled)
    await until('both are told', () => updates().length === 2)
    deepEqual(
      updates().map(({ status, statusTimestamp, order }) => [status, statusTimestamp, order.sz]),
      [
        ['open', 6_000, '0.25'],
        ['filled', 7_000, '0.0'],
      ],
    )
    const { order } = updates()[0]!
    deepEqual(order, {
      coin: 'BTC',
      side: 'B',
      limitPx: '58000.0',
      sz: '0.25',
      oid: 7,
      timestamp: 1_007,
      origSz: '0.25',
    })
  })

  it('have the words that every client knows, and the id its client gave', async () => {
    const cloid = `0x${'0a'.repeat(16)}`
    await placeOrder(store(), 7)
    const { record } = { record: await moveOrder(store(), 7, {}) }
    await placeOrder(store(), 8, {
      request: {
        kind: 'open',
        market: record.market as never,
        pairIndex: 0,
        side: 'short',
        type: 'market',
        size: '1' as never,
        price: null,
        leverage: '10' as never,
        collateral: 'USDC',
        collateralIndex: 3,
        sl: null,
        tp: null,
        reduceOnly: false,
        slippage: '1' as never,
        clientId: cloid,
        legs: [],
      },
    })
    await client.subscribe({ type: 'orderUpdates', user: USER })
    await move(7, { status: 'canceled' })
    await move(8, { status: 'rejected', reason: 'SLIPPAGE' })
    await move(8, { status: 'timed_out' })
    await until('all are told', () => updates().length === 3)
    deepEqual(
      updates().map(({ status }) => status),
      ['canceled', 'rejected', 'canceled'],
    )
    equal((updates()[1]!.order as { cloid?: string }).cloid, cloid)
  })

  it('keep to themselves what an agent only prepared, and not what came through the facade', async () => {
    world.facade.agents = [{ agent: AGENT, trader: ALICE, mode: 'relayed' } as AgentRecord]
    await placeOrder(store(), 7, { agent: BOB })
    await placeOrder(store(), 8, { agent: AGENT })
    await client.subscribe({ type: 'orderUpdates', user: USER })
    await move(7, { status: 'prepared', txHash: null })
    await move(7, { status: 'expired', txHash: null })
    await move(8, { status: 'prepared' })
    await until('the relayed one is told', () => updates().length === 1)
    equal(updates()[0]!.order.oid, 8)
    // The order was shown, and then undone by a reorg.
    await move(7, { status: 'expired' }, true)
    await until('it is over', () => updates().length === 2)
    equal(updates()[1]!.status, 'canceled')
  })

  it('are told to all who listen, of their user alone, and to nobody who left', async () => {
    await placeOrder(store(), 7)
    const [other, stranger] = [await world.connect(), await world.connect()]
    await client.subscribe({ type: 'orderUpdates', user: USER })
    await other.subscribe({ type: 'orderUpdates', user: ALICE })
    await stranger.subscribe({ type: 'orderUpdates', user: BOB })
    await move(7, { status: 'pending' })
    await until('both are told', () => updates().length === 1 && updates(other).length === 1)
    await client.ask({ method: 'unsubscribe', subscription: { type: 'orderUpdates', user: USER } })
    await move(7, { status: 'filled' })
    await until('the other one is told', () => updates(other).length === 2)
    equal(updates().length, 1)
    equal(updates(stranger).length, 0)
  })

  it('tell take profits and stop losses of positions as orders', async () => {
    const bare = livePosition('11')
    await keepPosition(store(), bare, true)
    const set = async (position: LivePosition): Promise<void> => {
      world.facade.positions = position.state.isOpen ? [position] : []
      await keepPosition(store(), position, false)
      await world.append('positions', [])
    }
    const positionWith = (trade: object, state: object = {}): LivePosition => livePosition('11', trade, state)
    world.facade.positions = [bare]
    await client.subscribe({ type: 'orderUpdates', user: USER })
    await set(positionWith({ sl: usd(55_000) }))
    await until('it is open', () => updates().length === 1)
    deepEqual([updates()[0]!.status, updates()[0]!.order.limitPx], ['open', '55000.0'])
    await set(positionWith({ sl: usd(56_000), tp: usd(70_000) }))
    await until('one changed, one is new', () => updates().length === 3)
    const placed = { kind: 'sl', price: usd(57_000), parts: [bare], isWhole: true } as const
    const { triggers } = world.facade.reads
    await store().transaction(TEST_SCOPE, (sql) => triggers.assign(sql, placed))
    triggers.forget(placed)
    await set(positionWith({ sl: usd(57_000), tp: usd(70_000) }))
    await until('another one is in its place', () => updates().length === 5)
    deepEqual([updates()[3]!.status, updates()[3]!.order.limitPx], ['open', '57000.0'])
    deepEqual([updates()[4]!.status, updates()[4]!.order.oid], ['canceled', updates()[0]!.order.oid])
    await set(positionWith({ sl: 0n, tp: usd(70_000) }))
    await until('one is over', () => updates().length === 6)
    deepEqual([updates()[5]!.status, updates()[5]!.order.oid], ['canceled', updates()[3]!.order.oid])
    await set(positionWith({ tp: usd(70_000) }, { isOpen: false }))
    await until('both are over', () => updates().length === 7)
    equal(updates()[6]!.status, 'canceled')
  })
})

describe('the end of a stop loss', () => {
  it('is told once, also when the event of its execution is read after the position was seen closed', async () => {
    const position = livePosition('11', { sl: usd(55_000) })
    await keepPosition(store(), position, true)
    world.facade.positions = [position]
    await placeOrder(store(), 7)
    await placeOrder(store(), 8, { originKey: 'sl:11' })
    await client.subscribe({ type: 'orderUpdates', user: USER })
    const fill = await fillOrder(store(), 8, 20)
    const executed = await moveOrder(store(), 8, { status: 'filled', fill: { ...fill, feeCollateral: '0.9' } as never })
    world.facade.positions = []
    await keepPosition(store(), livePosition('11', { sl: usd(55_000) }, { isOpen: false }), false)
    await world.append('positions', [])
    await until('it is told', () => updates().length === 1)
    equal(updates()[0]!.status, 'filled')
    await world.append('orders', executed)
    await move(7, { status: 'canceled' })
    await until('a later one is told', () => updates().some(({ order }) => order.oid === 7))
    deepEqual(
      updates().map(({ status }) => status),
      ['filled', 'canceled'],
    )
  })
})

describe('userFills and userEvents', () => {
  beforeEach(() => placeOrder(store(), 7))

  it('begin with the last ones, and tell each new one once, as /info does', async () => {
    await fillOrder(store(), 7, 10)
    await fillOrder(store(), 7, 11)
    await client.subscribe({ type: 'userFills', user: USER, aggregateByTime: true })
    await client.subscribe({ type: 'userEvents', user: USER })
    await until('the snapshot is told', () => client.dataOf('userFills').length === 1)
    const [snapshot] = client.dataOf<Fills>('userFills')
    deepEqual(snapshot, { isSnapshot: true, user: USER, fills: await info('userFills') })
    await fillOrder(store(), 7, 12)
    await fillOrder(store(), 7, 13)
    await world.append('fills', {})
    await world.append('orders', await moveOrder(store(), 7, { status: 'filled' }))
    await until('the new ones are told', () => client.dataOf('userFills').length === 2)
    await until('and as events', () => client.dataOf('user').length === 1)
    const [, fresh] = client.dataOf<Fills>('userFills')
    deepEqual(tidsOf(fresh!), [5_012, 5_013])
    deepEqual(fresh!.fills.toReversed(), (await info('userFills')).slice(0, 2))
    ok(!('isSnapshot' in fresh!))
    deepEqual(client.dataOf<Fills>('user'), [{ fills: fresh!.fills }])
  })

  it('miss nothing that happens while they begin', async () => {
    for (let block = 10; block < 30; block += 1) {
      const one = await world.connect()
      const begun = one.subscribe({ type: 'userFills', user: USER })
      await fillOrder(store(), 7, block)
      await world.append('fills', {})
      await begun
      await until('it has the fill', () =>
        one
          .dataOf<Fills>('userFills')
          .flatMap(tidsOf)
          .includes(5_000 + block),
      )
      const tids = one.dataOf<Fills>('userFills').flatMap(tidsOf)
      equal(new Set(tids).size, tids.length)
      one.socket.close()
    }
  })

  it('tell a snapshot of nobody', async () => {
    await client.subscribe({ type: 'userFills', user: BOB })
    deepEqual((await client.next()).data, { isSnapshot: true, user: BOB.toLowerCase(), fills: [] })
  })
})

describe('clearinghouseState, openOrders and webData2', () => {
  it('are those of /info, and follow the log', async () => {
    await placeOrder(store(), 7)
    await client.subscribe({ type: 'clearinghouseState', user: USER })
    deepEqual((await client.next()).data, { dex: '', user: USER, clearinghouseState: await info('clearinghouseState') })
    await client.subscribe({ type: 'openOrders', user: USER })
    deepEqual((await client.next()).data, { dex: '', user: USER, orders: await info('frontendOpenOrders') })
    world.facade.positions = [livePosition('11')]
    world.facade.balance = '5'
    await move(7, { status: 'canceled' })
    await until(
      'no order is open',
      () => client.dataOf<{ orders: unknown[] }>('openOrders').at(-1)!.orders.length === 0,
    )
    await until('the position is told', () => client.dataOf('clearinghouseState').length === 2)
    deepEqual(client.dataOf('clearinghouseState')[1]!.clearinghouseState, await info('clearinghouseState'))
  })

  it('are repeated while somebody listens', { timeout: 600_000 }, async () => {
    await client.subscribe({ type: 'clearinghouseState', user: USER })
    await until('it is told', () => client.dataOf('clearinghouseState').length === 1)
    world.facade.market.nowMs += 5_000
    await until('it is told again', () => client.dataOf('clearinghouseState').length === 2)
  })

  it('ask the node for strangers only now and then, and look at traders in rounds', async () => {
    world.facade.agents = [{ agent: AGENT, trader: ALICE, mode: 'relayed', scope: {}, standing: 'used' } as AgentRecord]
    await client.subscribe({ type: 'clearinghouseState', user: BOB })
    deepEqual(world.watched, [])
    client.say({ method: 'subscribe', subscription: { type: 'clearinghouseState', user: USER } })
    await until('it is watched', () => world.watched[0] === ALICE)
    client.say({ method: 'unsubscribe', subscription: { type: 'clearinghouseState', user: USER } })
    await until('it is over', () => world.watched.length === 0)
  })

  it('come later when the node is away', { timeout: 600_000 }, async () => {
    world.facade.isNodeAway = true
    await client.subscribe({ type: 'clearinghouseState', user: USER })
    await new Promise((later) => setTimeout(later, 50))
    equal(client.dataOf('clearinghouseState').length, 0)
    world.facade.isNodeAway = false
    await until('it is told', () => client.dataOf('clearinghouseState').length === 1)
  })

  it('put together what a page shows', async () => {
    await client.subscribe({ type: 'webData2', user: USER })
    const data = (await client.next()).data as Record<string, unknown>
    const [meta, assetCtxs] = await info('metaAndAssetCtxs')
    deepEqual(data.meta, meta)
    deepEqual(data.assetCtxs, assetCtxs)
    deepEqual(data.clearinghouseState, await info('clearinghouseState'))
    equal(data.user, USER)
    equal(data.agentAddress, null)
  })

  it('are not told while the chain was never caught up with', async () => {
    world.facade.followerReason = 'starting'
    const subscription = { type: 'orderUpdates', user: USER }
    const { data } = await client.subscribe(subscription)
    ok((data as string).startsWith(`Invalid subscription ${JSON.stringify(subscription)}: `))
    world.facade.followerReason = undefined
    equal((await client.subscribe(subscription)).channel, 'subscriptionResponse')
  })
})

describe('a subscription about a user', () => {
  const FILLS = 401
  const ORDERS = 201

  /** Opens a world with what a user did, and with a limit that the socket itself uses 1 of. */
  async function openWithin(ipLimit: number): Promise<void> {
    await world.close()
    world = await startFacadeStream({ ipLimit: 1 + ipLimit })
    for (let id = 1; id <= ORDERS; id += 1) await placeOrder(store(), id)
    for (let block = 10; block < 10 + FILLS; block += 1) await fillOrder(store(), 7, block)
    client = await world.connect()
  }

  /** Begins a subscription and ends it. Returns the refusal, if it was one. */
  async function visit(type: string): Promise<string | undefined> {
    const subscription = { type, user: USER }
    const refusals = client.dataOf('error').length
    const accepted = client.dataOf('subscriptionResponse').length
    const refused = (): string[] => client.dataOf<string>('error').slice(refusals)
    const answers = (): number => refused().length + client.dataOf('subscriptionResponse').length - accepted
    client.say({ method: 'subscribe', subscription })
    client.say({ method: 'unsubscribe', subscription })
    await until('both are answered', () => answers() === 2)
    const text = `Invalid subscription ${JSON.stringify(subscription)}: `
    return refused().find((refusal) => refusal.startsWith(text))
  }

  const WEIGHTS = { userFills: 3, userHistoricalOrders: 2, openOrders: 2, webData2: 2, orderUpdates: 1, userEvents: 1 }

  for (const [type, weight] of Object.entries(WEIGHTS)) {
    it(`to ${type} weighs ${weight}, each time`, async () => {
      await openWithin(3 * weight - 1)
      equal(await visit(type), undefined)
      equal(await visit(type), undefined)
      match((await visit(type))!, /The limit of \d+ requests a minute/)
      equal((await client.subscribe({ type: 'allMids' })).channel, 'subscriptionResponse')
    })
  }

  it('is shed when there is too much to do', async () => {
    let isBusy = true
    const admit = (): void => {
      if (isBusy) throw notReady('overloaded')
    }
    await world.close()
    world = await startFacadeStream({
      overload: { admit, shed: () => 0, tick: () => undefined },
    })
    client = await world.connect()
    ok((await visit('userFills')) !== undefined)
    isBusy = false
    equal(await visit('userFills'), undefined)
  })
})

describe('a reader of its own events that does not read', () => {
  it('is told so, and cut with 4429', async () => {
    await world.close()
    world = await startFacadeStream({ bounds: { maxQueuedLogBytes: 64 * 1024 } })
    await placeOrder(store(), 7)
    for (let block = 10; block < 400; block += 1) await fillOrder(store(), 7, block)
    client = await world.connect()
    client.socket.pause()
    const subscription = { type: 'userFills', user: USER }
    const { userFills } = world.counts
    for (let times = 0, isHeard = true; times < 200 && isHeard; times += 1) {
      const sent = userFills.sent
      client.say({ method: 'subscribe', subscription })
      // The server reads nothing more from a socket that it has cut.
      isHeard = await until('it is told', () => userFills.sent > sent, 1_000).catch(() => false)
      client.say({ method: 'unsubscribe', subscription })
    }
    client.socket.resume()
    equal(await client.closed, 4429)
    equal(world.counts.userFills.subscriptions, 0)
  })
})

/** Channels that are made of a user's positions, orders and executions. All others say nothing about these. */
const OF_TRADING: ReadonlySet<FacadeChannelName> = new Set([
  'orderUpdates',
  'userFills',
  'userEvents',
  'clearinghouseState',
  'openOrders',
  'webData2',
  'allDexsClearinghouseState',
  'userHistoricalOrders',
  'userFundings',
  'userNonFundingLedgerUpdates',
])

describe('a subscription to a user of whom not everything is known', () => {
  it('is refused where it would tell what is open or what happened', async () => {
    world.facade.isKnown = false
    for (const type of FACADE_CHANNELS) {
      const other = await world.connect()
      const { channel, data } = await other.subscribe({ type, user: USER, coin: 'BTC', interval: '1m' })
      const answer = OF_TRADING.has(type) ? 'error' : 'subscriptionResponse'
      equal(channel, answer, `${type}: ${JSON.stringify(data)}`)
      if (answer === 'error') match(String(data), /^Invalid subscription .*: The service is still reading what is open/)
    }
  })

  it('can be made once it is', async () => {
    world.facade.isKnown = false
    const asked = { type: 'clearinghouseState', user: USER }
    await client.subscribe(asked)
    world.facade.isKnown = true
    equal((await client.subscribe(asked)).channel, 'subscriptionResponse')
    await until('the state is told', () => client.dataOf('clearinghouseState').length === 1)
  })
})
