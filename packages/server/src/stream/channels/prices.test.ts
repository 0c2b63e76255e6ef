import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import { chainMarkets, usd } from '../../market/testing/fixtures.ts'
import { expectSilence, nextData, subscribe, type StreamClient, type Told } from '../testing/streamClient.ts'
import { startStreamWorld, type StreamWorld } from '../testing/streamWorld.ts'

let world: StreamWorld
let client: StreamClient
beforeEach(async () => {
  world = await startStreamWorld()
  client = await world.connect()
  await client.next()
})
afterEach(() => world.close())

const marksOf = ({ data }: Told): string[][] =>
  (data as { market: string; mark: string }[]).map(({ market, mark }) => [market, mark])

describe('prices', () => {
  it('start with all markets and go on with those that changed', async () => {
    const { seq, ...snapshot } = await subscribe(client, { channel: 'prices' })
    deepEqual(marksOf(snapshot), [
      ['BTC/USD', '60000'],
      ['EUR/USD', '1.16'],
    ])
    equal(seq, 0)
    world.sources.tick({ 0: 60_000, 21: 1.17 })
    const delta = await nextData(client)
    deepEqual([delta.snapshot, delta.seq, marksOf(delta)], [false, 1, [['EUR/USD', '1.17']]])
    world.sources.tick({ 0: 60_000 })
    await expectSilence(client)
  })

  it('count one sequence for all sockets, without a gap after a snapshot', async () => {
    await subscribe(client, { channel: 'prices' })
    world.sources.tick({ 0: 60_001 })
    world.sources.tick({ 0: 60_002 })
    const late = await world.connect()
    await late.next()
    const snapshot = await subscribe(late, { channel: 'prices' })
    deepEqual([snapshot.seq, marksOf(snapshot)[0]], [2, ['BTC/USD', '60002']])
    world.sources.tick({ 0: 60_003 })
    deepEqual(await nextData(late), (await nextData(client), await nextData(client), await nextData(client)))
  })

  it('go on where they were when everybody had left', async () => {
    await subscribe(client, { channel: 'prices' })
    world.sources.tick({ 0: 60_001 })
    await nextData(client)
    await client.ask({ op: 'unsubscribe', channel: 'prices' })
    world.sources.tick({ 0: 60_002 })
    const { seq, ...snapshot } = await subscribe(client, { channel: 'prices' })
    deepEqual([seq, marksOf(snapshot)[0]], [1, ['BTC/USD', '60002']])
    world.sources.tick({ 0: 60_002 })
    await expectSilence(client)
  })

  it('tell what changed without a tick of its own: a filled-in price, a new market', async () => {
    await subscribe(client, { channel: 'prices' })
    const eur = world.sources.world.quotes.get(21)!
    world.sources.world.quotes.set(21, { ...eur, mark: Price.of(eur.mark * 2n) })
    world.sources.world.version += 1
    world.sources.tick({ 0: 60_000 })
    deepEqual(marksOf(await nextData(client)), [['EUR/USD', '2.32']])
    world.sources.world.chain = chainMarkets()
    world.sources.tick({ 0: 60_005 })
    deepEqual(marksOf(await nextData(client)), [['BTC/USD', '60005']])
    // Pair 7 is not listed on this chain.
    world.sources.tick({ 7: 5 })
    await expectSilence(client)
  })
})

describe('prices of one market', () => {
  const btc = { channel: 'prices', market: 'BTC/USD' }

  it('start with its price and go on when it changes, whatever others do', async () => {
    const snapshot = await subscribe(client, btc)
    deepEqual([snapshot.market, snapshot.seq, marksOf(snapshot)], ['BTC/USD', 0, [['BTC/USD', '60000']]])
    world.sources.tick({ 21: 1.17 })
    await expectSilence(client)
    world.sources.tick({ 0: 60_001, 21: 1.18 })
    const delta = await nextData(client)
    deepEqual([delta.market, delta.snapshot, delta.seq, marksOf(delta)], ['BTC/USD', false, 1, [['BTC/USD', '60001']]])
    world.sources.tick({ 0: 60_001 })
    await expectSilence(client)
  })

  it('are apart from those of all markets, with a sequence of their own', async () => {
    await subscribe(client, { channel: 'prices' })
    world.sources.tick({ 0: 60_001 })
    await nextData(client)
    equal((await subscribe(client, btc)).seq, 0)
    equal((await client.ask({ op: 'subscribe', ...btc })).duplicate, true)
    world.sources.tick({ 0: 60_002 })
    const told = [await nextData(client), await nextData(client)]
    deepEqual(
      told.map(({ market, seq }) => [market, seq]),
      [
        [undefined, 2],
        ['BTC/USD', 1],
      ],
    )
    await client.ask({ op: 'unsubscribe', channel: 'prices' })
    world.sources.tick({ 0: 60_003 })
    deepEqual([(await nextData(client)).seq], [2])
    const again = await subscribe(client, { channel: 'prices' })
    deepEqual([again.seq, marksOf(again)[0]], [2, ['BTC/USD', '60003']])
    world.sources.tick({ 0: 60_003 })
    await expectSilence(client)
  })

  it('are one message for all who subscribe, and go on where they were when everybody had left', async () => {
    await subscribe(client, btc)
    const other = await world.connect()
    await other.next()
    await subscribe(other, btc)
    world.sources.tick({ 0: 60_001 })
    deepEqual(await nextData(client), await nextData(other))
    await client.ask({ op: 'unsubscribe', ...btc })
    await other.ask({ op: 'unsubscribe', ...btc })
    world.sources.tick({ 0: 60_002 })
    const again = await subscribe(client, btc)
    deepEqual([again.seq, marksOf(again)], [1, [['BTC/USD', '60002']]])
  })

  it('show what was told with their number, so that no reader keeps a price that comes and goes untold', async () => {
    await subscribe(client, btc)
    const quote = world.sources.world.quotes.get(0)!
    world.sources.world.quotes.set(0, { ...quote, mark: usd(60_010) })
    world.sources.world.version += 1
    const late = await world.connect()
    await late.next()
    deepEqual(marksOf(await subscribe(late, btc)), [['BTC/USD', '60000']])
    world.sources.tick({ 21: 1.2 })
    for (const reader of [client, late]) deepEqual(marksOf(await nextData(reader)), [['BTC/USD', '60010']])
  })

  it('are none of a market that has no price yet, and come with its first', async () => {
    world.sources.world.quotes.delete(21)
    world.sources.world.version += 1
    deepEqual(marksOf(await subscribe(client, { channel: 'prices', market: 'EUR/USD' })), [])
    world.sources.tick({ 21: 1.2 })
    deepEqual(marksOf(await nextData(client)), [['EUR/USD', '1.2']])
  })

  it('refuse a market that does not exist', async () => {
    const refused = await client.ask({ op: 'subscribe', channel: 'prices', market: 'DOGE/USD' })
    deepEqual([refused.op, refused.code, refused.market], ['error', 'MARKET_NOT_FOUND', 'DOGE/USD'])
    equal(world.counts.channels.prices.subscriptions, 0)
  })
})
