import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Candle } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { answerInfo } from '../info/infoTypes.ts'
import { flatCandle } from '../testing/facadeWorld.ts'
import { fillOrder, placeOrder } from './testing/aliceTrades.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'

interface Book {
  readonly coin: string
  readonly time: number
  readonly levels: readonly (readonly { readonly px: string; readonly sz: string; readonly n: number }[])[]
}
type FacadeCandle = Readonly<Record<'t' | 'T' | 'n', number> & Record<'s' | 'i' | 'o' | 'c' | 'h' | 'l' | 'v', string>>

let world: FacadeStreamWorld
let client: FacadeClient
beforeEach(async () => {
  world = await startFacadeStream()
  client = await world.connect()
})
afterEach(() => world.close())

const info = async (type: string, of: object = {}) =>
  JSON.parse(String(await answerInfo({ type, ...of }, world.facade.reads)))

describe('allMids', () => {
  it('are those of /info, at once and again when one changed, not faster than they are read', async () => {
    await client.subscribe({ type: 'allMids' })
    deepEqual((await client.next()).data, { mids: await info('allMids') })
    for (let at = 1; at <= 20; at += 1) world.tick({ 0: 60_000 + at })
    await until(
      'the last one is told',
      () => client.dataOf<{ mids: { BTC: string } }>('allMids').at(-1)!.mids.BTC === '60020.00',
    )
    ok(client.dataOf('allMids').length <= 3)
    ok(!('dex' in client.dataOf('allMids')[0]!))
  })
})

describe('l2Book and bbo', () => {
  it('are those of /info at every change, whole', async () => {
    await client.subscribe({ type: 'l2Book', coin: 'BTC' })
    deepEqual((await client.next()).data, await info('l2Book', { coin: 'BTC' }))
    world.tick({ 0: 60_100 })
    deepEqual((await client.next()).data, await info('l2Book', { coin: 'BTC' }))
    const first = client.dataOf<Book>('l2Book')[1]!
    ok(Number(first.levels[0]![0]!.px) < Number(first.levels[1]![0]!.px))
  })

  it('say nothing when only the time is another one, or another coin ticks', async () => {
    await client.subscribe({ type: 'l2Book', coin: 'BTC' })
    await client.subscribe({ type: 'bbo', coin: 'BTC' })
    await until('both were told', () => client.dataOf('bbo').length === 1)
    world.facade.market.nowMs += 1_000
    world.tick({ 0: 60_000 })
    world.tick({ 5: 150 })
    world.tick({ 0: 60_001 })
    await until('the change is told', () => client.dataOf('bbo').length === 2)
    equal(client.dataOf('l2Book').length, 2)
  })

  it('tell the best of each side, and null of a market that is closed', async () => {
    await client.subscribe({ type: 'bbo', coin: 'BTC' })
    const { levels } = (await info('l2Book', { coin: 'BTC' })) as Book
    const told = (await client.next()).data as { coin: string; time: number; bbo: unknown[] }
    deepEqual(told.bbo, [levels[0]![0], levels[1]![0]])
    equal(told.coin, 'BTC')
    world.facade.market.open.delete(0)
    world.tick({ 0: 60_000 })
    deepEqual(((await client.next()).data as { bbo: unknown[] }).bbo, [null, null])
  })

  it('are made with the precision that was asked for', async () => {
    await client.subscribe({ type: 'l2Book', coin: 'BTC', nSigFigs: 3 })
    const [book] = [(await client.next()).data as Book]
    ok(book.levels.flat().every(({ px }) => Number(px) % 100 === 0))
    await client.subscribe({ type: 'l2Book', coin: 'BTC' })
    await until('the other one is told', () => client.dataOf('l2Book').length === 2)
  })
})

describe('activeAssetCtx', () => {
  it('is that of /info, of one coin', async () => {
    await client.subscribe({ type: 'activeAssetCtx', coin: 'kPEPE' })
    const [meta, ctxs] = await info('metaAndAssetCtxs')
    const at = meta.universe.findIndex(({ name }: { name: string }) => name === 'kPEPE')
    deepEqual((await client.next()).data, { coin: 'kPEPE', ctx: ctxs[at] })
    world.tick({ 3: 0.0001 })
    await until('the new price is told', () => client.dataOf('activeAssetCtx').length === 2)
  })
})

describe('trades', () => {
  it('are the last ones, oldest first, and then each new one, with the ids of /info', async () => {
    const { store } = world.facade.opened
    await placeOrder(store, 1)
    await fillOrder(store, 1, 10)
    await fillOrder(store, 1, 11)
    await client.subscribe({ type: 'trades', coin: 'BTC' })
    const recent = (await info('recentTrades', { coin: 'BTC' })) as { tid: number }[]
    deepEqual((await client.next()).data, recent.toReversed())
    await fillOrder(store, 1, 12)
    world.tellTrades(5)
    world.tellTrades(0)
    const fresh = (await client.next()).data as { tid: number }[]
    deepEqual(
      fresh.map(({ tid }) => tid),
      [5_012],
    )
    world.tellTrades(0)
    const other = await world.connect()
    await other.subscribe({ type: 'trades', coin: 'BTC' })
    equal(((await other.next()).data as unknown[]).length, 3)
    equal(client.dataOf('trades').length, 2)
  })
})

describe('candle', () => {
  const MINUTE = 60_000
  const T0 = 1_800_000_000_000
  let candles: Candle[]
  beforeEach(() => {
    candles = [{ time: T0, open: '60000', high: '60010', low: '59990', close: '60001' }]
    world.facade.candlesOf = ({ fromMs, toMs }) => candles.filter(({ time }) => time >= fromMs && time <= toMs)
    Object.assign(world.facade.reads.candles, { current: () => candles.at(-1) })
  })

  const tell = (nowMs: number, ...added: Candle[]): void => {
    world.facade.market.nowMs = nowMs
    candles.push(...added)
    world.tellCandles([0])
  }

  it('is the current one at once, and whenever it changed', async () => {
    await client.subscribe({ type: 'candle', coin: 'BTC', interval: '1m' })
    const expected = { t: T0, T: T0 + MINUTE - 1, s: 'BTC', i: '1m', o: '60000.0', c: '60001.0', h: '60010.0' }
    deepEqual((await client.next()).data, { ...expected, l: '59990.0', v: '0.0', n: 0 })
    candles[0] = { ...candles[0]!, close: '60005' }
    world.tellCandles([3])
    world.tellCandles([0])
    world.tellCandles([0])
    equal(((await client.next()).data as FacadeCandle).c, '60005.0')
    equal(client.dataOf('candle').length, 2)
  })

  it('tells how one ended before the next one', async () => {
    await client.subscribe({ type: 'candle', coin: 'BTC', interval: '1m' })
    await client.next()
    candles[0] = { ...candles[0]!, close: '60009' }
    tell(T0 + MINUTE, flatCandle(T0 + MINUTE, '60010'))
    const [ended, next] = [(await client.next()).data as FacadeCandle, (await client.next()).data as FacadeCandle]
    deepEqual([ended.t, ended.c, next.t, next.c], [T0, '60009.0', T0 + MINUTE, '60010.0'])
  })

  it('joins wider ones from those there are', async () => {
    await client.subscribe({ type: 'candle', coin: 'BTC', interval: '3m' })
    equal(((await client.next()).data as FacadeCandle).h, '60010.0')
    tell(T0 + MINUTE, flatCandle(T0 + MINUTE, '61000'))
    const joined = (await client.next()).data as FacadeCandle
    deepEqual([joined.t, joined.o, joined.h, joined.l, joined.c], [T0, '60000.0', '61000.0', '59990.0', '61000.0'])
    candles[1] = flatCandle(T0 + MINUTE, '62000')
    world.tellCandles([0])
    equal(((await client.next()).data as FacadeCandle).h, '62000.0')
    candles[0] = flatCandle(T0, '50000')
    world.tellRepaired(0, '1m')
    equal(((await client.next()).data as FacadeCandle).l, '50000.0')
    tell(T0 + 3 * MINUTE, flatCandle(T0 + 2 * MINUTE, '62000'), flatCandle(T0 + 3 * MINUTE, '63000'))
    await until('the next one began', () => client.dataOf<FacadeCandle>('candle').at(-1)!.t === T0 + 3 * MINUTE)
    equal(client.dataOf<FacadeCandle>('candle').at(-1)!.l, '63000.0')
  })
})

describe('one making for all', () => {
  it('serves many sockets the same bytes', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => world.connect()))
    for (const one of [client, ...others]) await one.subscribe({ type: 'l2Book', coin: 'BTC' })
    world.tick({ 0: 60_500 })
    for (const one of [client, ...others]) {
      await until('it is told', () => one.dataOf('l2Book').length === 2)
      deepEqual(one.dataOf('l2Book')[1], client.dataOf('l2Book')[1])
    }
    equal(world.counts.l2Book.subscriptions, 6)
    equal(world.counts.l2Book.sent, 12)
  })
})

describe('a slow reader', () => {
  it('is left out while it does not read, and then has the latest book', async () => {
    await world.close()
    world = await startFacadeStream({ bounds: { maxQueuedLatestBytes: 64 * 1024 } })
    client = await world.connect()
    await client.subscribe({ type: 'l2Book', coin: 'BTC' })
    await client.next()
    client.socket.pause()
    const { l2Book } = world.counts
    let price = 60_000
    for (let ticks = 0, isTold = true; ticks < 100_000 && isTold; ticks += 1) {
      const before = l2Book.sent
      world.tick({ 0: (price += 1) })
      isTold = l2Book.sent > before || ticks < 100
      if (ticks % 50 === 0) await new Promise((soon) => setImmediate(soon))
    }
    const stuckAt = l2Book.sent
    for (let more = 0; more < 20; more += 1) world.tick({ 0: (price += 1) })
    equal(l2Book.sent, stuckAt)
    client.socket.resume()
    await until('it has the last one', async () => {
      const now = (await info('l2Book', { coin: 'BTC' })) as Book
      return JSON.stringify(client.dataOf<Book>('l2Book').at(-1)!.levels) === JSON.stringify(now.levels)
    })
  })
})
