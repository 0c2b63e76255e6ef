import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { FillHistoryEntry, TransactionRequest } from '@bezel/protocol'
import {
  ApiRequestError,
  ExchangeClient,
  HttpTransport,
  InfoClient,
  SubscriptionClient,
  WebSocketTransport,
} from '@nktkas/hyperliquid'
import { formatPrice, formatSize, SymbolConverter } from '@nktkas/hyperliquid/utils'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { parseUnits } from 'viem'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { LONG_HOLD, patient, TIMEOUT_MS } from './patience.ts'
import { until } from '@bezel/testkit/until.ts'

const CLOID = `0x${'4b'.repeat(16)}` as const
const OTHER_CLOID = `0x${'4c'.repeat(16)}` as const

type Placed = Awaited<ReturnType<ExchangeClient['order']>>['response']['data']['statuses'][number]

/** One trader's day with @nktkas/hyperliquid from the package registry, over HTTP and over a socket. */
describe('@nktkas/hyperliquid', () => {
  let world: FacadeWorld
  let info: InfoClient
  let exchange: ExchangeClient
  /** The same agent, sending its actions over the socket. */
  let posting: ExchangeClient
  let socket: WebSocketTransport
  let native: TradingClient
  let btc: number
  const user = () => world.chain.account('trader-1').address
  const told: Record<string, unknown[]> = {}

  before(async () => {
    world = await startFacadeWorld(LONG_HOLD)
    // The trailing slash keeps the last part of the path.
    const transport = new HttpTransport({ apiUrl: `${world.base}/`, timeout: TIMEOUT_MS })
    socket = new WebSocketTransport({ url: world.socketUrl, timeout: TIMEOUT_MS })
    const wallet = world.chain.account('agent-1')
    info = patient(new InfoClient({ transport }))
    exchange = patient(new ExchangeClient({ transport, wallet }))
    posting = patient(new ExchangeClient({ transport: socket, wallet }))
    native = await world.clientOf('trader-1', 'trader-1')
  })
  after(async () => {
    await socket?.close()
    await world?.stop()
  })

  const market = (isBuy: boolean, size: string, reduceOnly = false) =>
    ({ a: btc, b: isBuy, p: isBuy ? '63000' : '56000', s: size, r: reduceOnly, t: { limit: { tif: 'Ioc' } } }) as const
  const limit = (price: string, cloid?: `0x${string}`) => ({
    a: btc,
    b: true,
    p: price,
    s: '0.05',
    r: false,
    t: { limit: { tif: 'Gtc' as const } },
    ...(cloid === undefined ? {} : { c: cloid }),
  })
  const trigger = (tpsl: 'tp' | 'sl', triggerPx: string, size: string) =>
    ({ a: btc, b: false, p: triggerPx, s: size, r: true, t: { trigger: { isMarket: true, triggerPx, tpsl } } }) as const
  const placed = async (of: Parameters<ExchangeClient['order']>[0], by = exchange): Promise<Placed[]> =>
    (await by.order(of)).response.data.statuses
  const oidOf = (status: Placed | undefined): number => {
    if (typeof status === 'object' && 'resting' in status) return status.resting.oid
    if (typeof status === 'object' && 'filled' in status) return status.filled.oid
    return assert.fail(JSON.stringify(status))
  }
  const position = async () => (await info.clearinghouseState({ user: user() })).assetPositions[0]?.position
  const statusOf = async (oid: number | `0x${string}`) => {
    const found = await info.orderStatus({ user: user(), oid })
    return found.status === 'order' ? found.order : assert.fail(found.status)
  }
  const refusal = async (work: Promise<unknown>): Promise<ApiRequestError> => {
    const error = await work.then(
      () => assert.fail('it was done'),
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof ApiRequestError, String(error))
    return error
  }

  it('knows the symbols, and reads prices, book, candles and funding', async () => {
    const converter = await SymbolConverter.create({
      transport: new HttpTransport({ apiUrl: `${world.base}/`, timeout: TIMEOUT_MS }),
    })
    btc = converter.getAssetId('BTC')!
    assert.deepEqual([btc, converter.getSzDecimals('BTC')], [0, 5])
    assert.equal(formatSize('0.0499899', 5), '0.04998')
    assert.equal(formatPrice('60012.0134', 5), '60012')
    const { universe } = await info.meta()
    assert.equal(universe[btc]!.name, 'BTC')
    const [, contexts] = await info.metaAndAssetCtxs()
    assert.equal(Number(contexts[btc]!.markPx), 60_000)
    assert.equal(Number((await info.allMids()).BTC), 60_000)
    const book = await info.l2Book({ coin: 'BTC' })
    assert.ok(Number(book!.levels[0][0]!.px) < Number(book!.levels[1][0]!.px))
    const candles = await info.candleSnapshot({ coin: 'BTC', interval: '15m', startTime: 0 })
    assert.equal(Number(candles.at(-1)!.c), 60_000)
  })

  it('approves its agent, and is told what to send until the relayer is the delegate', async () => {
    const master = new ExchangeClient({
      transport: new HttpTransport({ apiUrl: `${world.base}/`, timeout: TIMEOUT_MS }),
      wallet: world.chain.account('trader-1'),
    })
    const unknown = await refusal(exchange.updateLeverage({ asset: btc, isCross: true, leverage: 10 }))
    assert.match(unknown.message, /User or API Wallet 0x[0-9a-f]{40} does not exist\./)
    const agentAddress = world.chain.account('agent-1').address
    await master.approveAgent({ agentAddress, agentName: 'bot' })
    const early = await refusal(exchange.updateLeverage({ asset: btc, isCross: true, leverage: 10 }))
    assert.match(early.message, /is not yet the on-chain delegate of its user/)
    await world.delegate('trader-1', (early.response as { delegationTx: TransactionRequest }).delegationTx)
    await until('the delegation is seen', () =>
      exchange.updateLeverage({ asset: btc, isCross: true, leverage: 10 }).catch(() => undefined),
    )
    const agents = await info.extraAgents({ user: user() })
    assert.equal(agents.find(({ address }) => address === agentAddress.toLowerCase())?.name, 'bot')
    const { leverage } = await info.activeAssetData({ user: user(), coin: 'BTC' })
    assert.deepEqual([leverage.type, leverage.value], ['isolated', 10])
  })

  it('listens to everything', async () => {
    const client = new SubscriptionClient({ transport: socket })
    const keep = (name: string) => {
      told[name] = []
      return (data: unknown) => void told[name]!.push(data)
    }
    await client.allMids(keep('allMids'))
    await client.l2Book({ coin: 'BTC' }, keep('l2Book'))
    await client.bbo({ coin: 'BTC' }, keep('bbo'))
    await client.trades({ coin: 'BTC' }, keep('trades'))
    await client.candle({ coin: 'BTC', interval: '1m' }, keep('candle'))
    await client.activeAssetCtx({ coin: 'BTC' }, keep('activeAssetCtx'))
    await client.activeAssetData({ coin: 'BTC', user: user() }, keep('activeAssetData'))
    await client.orderUpdates({ user: user() }, keep('orderUpdates'))
    await client.userFills({ user: user() }, keep('userFills'))
    await client.userEvents({ user: user() }, keep('userEvents'))
    await client.userFundings({ user: user() }, keep('userFundings'))
    await client.userNonFundingLedgerUpdates({ user: user() }, keep('userNonFundingLedgerUpdates'))
    await client.clearinghouseState({ user: user() }, keep('clearinghouseState'))
    await client.openOrders({ user: user() }, keep('openOrders'))
    const silent = new Set(['trades', 'orderUpdates', 'userEvents'])
    for (const [name, all] of Object.entries(told)) {
      if (!silent.has(name)) await until(`${name} begins with how it is`, () => all.length > 0)
    }
    await assert.rejects(
      client.l2Book({ coin: 'NOTHING' }, () => undefined),
      /Invalid subscription/,
    )
  })

  // oxlint-disable-next-line typescript/no-explicit-any -- messages, asserted on by the tests
  const heard = (name: string, isIt: (data: any) => boolean) => until(`${name} tells it`, () => told[name]!.find(isIt))

  it('fills a market order, over HTTP and over the socket', async () => {
    const [status] = await placed({ orders: [market(true, '0.05')], grouping: 'na' })
    assert.ok(typeof status === 'object' && 'filled' in status, JSON.stringify(status))
    const { oid, totalSz, avgPx } = status.filled
    assert.ok(Math.abs(Number(totalSz) - 0.05) < 0.0001 && Number(avgPx) > 60_000)
    assert.deepEqual([(await statusOf(oid)).status, (await native.order(String(oid))).status], ['filled', 'filled'])
    const held = (await position())!
    assert.deepEqual([held.szi, held.entryPx, held.leverage.type], [totalSz, avgPx, 'isolated'])
    const [fill] = await info.userFills({ user: user() })
    assert.deepEqual([fill!.oid, fill!.sz, fill!.px, fill!.dir], [oid, totalSz, avgPx, 'Open Long'])
    await heard('orderUpdates', (all) => all.some((u: never) => u['order']['oid'] === oid && u['status'] === 'filled'))
    await heard('userFills', ({ fills }) => fills.some((f: { oid: number }) => f.oid === oid))
    await heard('userEvents', ({ fills }) => fills?.some((f: { oid: number }) => f.oid === oid))
    await heard('trades', (all) => all.some((t: { tid: number }) => t.tid === fill!.tid))
    await heard('clearinghouseState', (s) => s.clearinghouseState.assetPositions[0]?.position.szi === totalSz)

    const [closing] = await placed({ orders: [market(false, totalSz, true)], grouping: 'na' }, posting)
    assert.ok(typeof closing === 'object' && 'filled' in closing, JSON.stringify(closing))
    assert.equal(closing.filled.totalSz, totalSz)
    assert.equal(await position(), undefined)
    assert.deepEqual((await native.account('/positions', 'listPositions')).body.data, [], 'no dust is left')
  })

  it('opens with a take profit and a stop, which closes the position', async () => {
    const orders = [market(true, '0.05'), trigger('tp', '65000', '0.05'), trigger('sl', '58000', '0.05')]
    const statuses = await placed({ orders, grouping: 'normalTpsl' })
    const [, tp, sl] = statuses.map(oidOf)
    const open = await info.frontendOpenOrders({ user: user() })
    assert.deepEqual(
      open.map((order) => [order.oid, order.orderType, Number(order.triggerPx), order.reduceOnly]).toSorted(),
      [
        [tp, 'Take Profit Market', 65_000, true],
        [sl, 'Stop Market', 58_000, true],
      ].toSorted(),
    )
    await heard('openOrders', ({ orders: all }) => all.some((order: { oid: number }) => order.oid === sl))
    await world.setPrice(57_900)
    await heard('userFills', ({ fills }) => fills.some((fill: { oid: number }) => fill.oid === sl))
    await heard('orderUpdates', (all) => all.some((u: never) => u['order']['oid'] === sl && u['status'] === 'filled'))
    assert.equal(await position(), undefined)
    assert.deepEqual([(await statusOf(sl!)).status, (await statusOf(tp!)).status], ['filled', 'canceled'])
    assert.equal((await info.userFills({ user: user() }))[0]!.dir, 'Close Long')
    await world.moveTo(60_000)
  })

  it('protects a position, by ids of its own', async () => {
    await placed({ orders: [market(true, '0.05')], grouping: 'na' })
    const { szi } = (await position())!
    const tp = { ...trigger('tp', '65000', szi), c: CLOID }
    const [profit, stop] = (await placed({ orders: [tp, trigger('sl', '55000', szi)], grouping: 'positionTpsl' })).map(
      oidOf,
    )
    const named = await statusOf(CLOID)
    assert.deepEqual([named.order.oid, named.order.cloid, named.status], [profit, CLOID, 'open'])
    await exchange.modify({ oid: stop!, order: trigger('sl', '56000', szi) })
    assert.equal(Number((await statusOf(stop!)).order.triggerPx), 56_000)
    const half = await refusal(exchange.order({ orders: [trigger('sl', '57000', '0.01')], grouping: 'na' }))
    assert.match(half.message, /TP\/SL orders are for the whole position/)
    await exchange.cancelByCloid({ cancels: [{ asset: btc, cloid: CLOID }] })
    await exchange.cancel({ cancels: [{ a: btc, o: stop! }] })
    assert.deepEqual(await info.openOrders({ user: user() }), [])
    await exchange.updateIsolatedMargin({ asset: btc, isBuy: true, ntli: 20_000_000 })
    await until('the margin is there', async () => Number((await position())!.marginUsed) > 310)
    await placed({ orders: [market(false, szi, true)], grouping: 'na' })
    assert.equal(await position(), undefined)
  })

  it('rests, changes and cancels, one by one and together', async () => {
    const [first] = (await placed({ orders: [limit('50000', OTHER_CLOID)], grouping: 'na' })).map(oidOf)
    assert.equal((await statusOf(OTHER_CLOID)).order.oid, first)
    await exchange.modify({ oid: OTHER_CLOID, order: limit('51000', OTHER_CLOID) })
    assert.equal(Number((await statusOf(first!)).order.limitPx), 51_000)
    const [second, third] = (await placed({ orders: [limit('49000'), limit('48000')], grouping: 'na' }, posting)).map(
      oidOf,
    )
    const modifies = [{ oid: second!, order: { ...limit('49500'), s: '0.06' } }]
    const changed = await exchange.batchModify({ modifies })
    assert.deepEqual(changed.response.data.statuses.map(oidOf), [second])
    await heard('orderUpdates', (all) =>
      all.some((u: never) => u['order']['oid'] === second && u['order']['origSz'] === '0.06'),
    )
    const listed = (await native.account('/orders', 'listOpenOrders')).body.data.map(({ id }: { id: string }) =>
      Number(id),
    )
    assert.deepEqual(listed.toSorted(), [first, second, third].toSorted())
    await exchange.cancelByCloid({ cancels: [{ asset: btc, cloid: OTHER_CLOID }] })
    await posting.cancel({ cancels: [{ a: btc, o: second! }] })
    assert.deepEqual(
      (await info.openOrders({ user: user() })).map(({ oid }) => oid),
      [third],
    )
    assert.match(
      (await refusal(exchange.cancel({ cancels: [{ a: btc, o: second! }] }))).message,
      /already canceled, or filled/,
    )
    const history = await info.historicalOrders({ user: user() })
    assert.equal(history.find(({ order }) => order.oid === first)?.status, 'canceled')
  })

  it('cancels what rests when it is not heard of any more, also what was placed natively', async () => {
    const terms = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.05', leverage: '10', price: '47000' }
    const { id } = await native.trade(terms, 'open')
    assert.ok((await info.openOrders({ user: user() })).some(({ oid }) => oid === Number(id)))
    await exchange.scheduleCancel({ time: Date.now() + 60_000 })
    await exchange.scheduleCancel()
    // The time must be five seconds ahead when the request arrives.
    await until('it is scheduled', () =>
      exchange.scheduleCancel({ time: Date.now() + 5_500 }).catch((error: unknown) => {
        assert.match(String(error), /must be at least 5 seconds from now/)
      }),
    )
    await until('nothing rests', async () => (await info.openOrders({ user: user() })).length === 0)
    assert.equal((await statusOf(Number(id))).status, 'canceled')
  })

  it('adds up profits, fees, fundings and the ledger to what the native history says', async () => {
    const countBefore = (await info.userFunding({ user: user() })).length
    await placed({ orders: [market(true, '0.05')], grouping: 'na' })
    await world.chain.control('evm_increaseTime', 36_000)
    await exchange.updateIsolatedMargin({ asset: btc, isBuy: true, ntli: 20_000_000 })
    const { szi } = (await position())!
    await placed({ orders: [market(false, szi, true)], grouping: 'na' })
    const fundings = await info.userFunding({ user: user() })
    assert.ok(fundings.length > countBefore)
    const { time, delta } = fundings.at(-1)!
    assert.ok(Number(delta.usdc) < 0 && delta.coin === 'BTC', JSON.stringify(delta))
    await heard('userFundings', (all) => all.fundings.some((one: { time: number }) => one.time === time))
    const updates = await info.userNonFundingLedgerUpdates({ user: user() })
    const { hash } = updates.at(-1)!
    await heard('userNonFundingLedgerUpdates', (all) =>
      all.nonFundingLedgerUpdates.some((one: { hash: string }) => one.hash === hash),
    )

    const units = (text: string | null): bigint => parseUnits(text!, 6)
    const amounts = [
      ...(await info.userFills({ user: user() })).map(({ closedPnl, fee }) => units(closedPnl) - units(fee)),
      ...fundings.map((one) => units(one.delta.usdc)),
      ...updates.map((one) => {
        assert.equal(one.delta.type, 'internalTransfer')
        return units(one.delta.usdc) * (one.delta.user === user().toLowerCase() ? -1n : 1n)
      }),
    ]
    const entries: FillHistoryEntry[] = (await native.account('/fills', 'listFills')).body.data
    const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, amount) => total + amount, 0n)
    assert.equal(sum(amounts), sum(entries.map(({ netPnl }) => units(netPnl))))
  })

  it('never moves funds, whoever signs it and however it comes', async () => {
    const destination = world.chain.account('trader-2').address
    for (const by of [exchange, posting]) {
      for (const work of [
        by.withdraw3({ destination, amount: '1' }),
        by.usdSend({ destination, amount: '1' }),
        by.usdClassTransfer({ amount: '1', toPerp: true }),
        by.vaultTransfer({ vaultAddress: destination, isDeposit: true, usd: 1 }),
        by.createSubAccount({ name: 'mine' }),
      ]) {
        assert.match((await refusal(work)).message, /never moves funds/)
      }
    }
  })
})
