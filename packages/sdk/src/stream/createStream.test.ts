import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { until } from '@bezel/testkit/until.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'
import { createStream, type Stream, type StreamOptions } from './createStream.ts'
import type { StreamSubscription } from './reader.ts'
import { streamError } from './streamError.ts'
import type { StreamStatus } from './line.ts'
import { startStandInService, type StandInService } from './testing/standInService.ts'

const FAST = { minDelayMs: 5, maxDelayMs: 20 }

const authenticate = async () => ({ op: 'auth', apiKey: 'bz_1' }) as const

describe('the stream over a service that misbehaves', () => {
  let service: StandInService
  let stream: Stream
  let statuses: (StreamStatus & { readonly socket: number })[]

  beforeEach(async () => {
    service = await startStandInService()
    open()
  })
  afterEach(async () => {
    stream.close()
    await service.close()
  })

  function open(options: Partial<StreamOptions> = {}): void {
    statuses = []
    const onStatus = (status: (typeof statuses)[number]): void => void statuses.push(status)
    stream = createStream({ url: service.url, authenticate, onStatus, ...FAST, ...options })
  }

  const saidOf = (op: string) => service.said.filter((message) => message.op === op)
  const subscribed = (times: number) => until('it is subscribed', () => saidOf('subscribe').length === times)
  const valueOf = async <Event>(of: StreamSubscription<Event>): Promise<Event> => {
    const { done, value } = await of.next()
    assert.notEqual(done, true)
    return value as Event
  }
  async function seqsOf(of: StreamSubscription<{ readonly seq: number }>, count: number): Promise<number[]> {
    const seqs: number[] = []
    while (seqs.length < count) seqs.push((await valueOf(of)).seq)
    return seqs
  }

  it('goes on after a cut with the event behind the last one, which nobody sees twice', async () => {
    const orders = stream.orders()
    assert.deepEqual([(await valueOf(orders)).snapshot], [true])
    for (let at = 0; at < 3; at += 1) service.append('orders')
    assert.deepEqual(await seqsOf(orders, 3), [1, 2, 3])
    service.cut()
    for (let at = 0; at < 2; at += 1) service.append('orders')
    assert.deepEqual(await seqsOf(orders, 2), [4, 5])
    assert.deepEqual(
      saidOf('subscribe').map(({ fromSeq }) => fromSeq),
      [undefined, 4],
    )
    assert.equal(saidOf('auth').length, 2)
    assert.deepEqual(
      statuses.map(({ state }) => state),
      ['connecting', 'open', 'waiting', 'connecting', 'open'],
    )
  })

  it('asks for the snapshot again when the cut came before it', async () => {
    service.isFrozen = true
    const orders = stream.orders()
    await until('it is connected', () => service.openSockets() === 1)
    service.isFrozen = false
    service.cut()
    assert.equal((await valueOf(orders)).snapshot, true)
    assert.deepEqual(saidOf('subscribe'), [{ op: 'subscribe', channel: 'orders' }])
  })

  it('lets the service hold back what a slow reader has not read, and loses none of it', async () => {
    open({ maxWaiting: 4 })
    for (let at = 0; at < 22; at += 1) service.append('orders')
    const orders = stream.orders({ fromSeq: 1 })
    await until('it is full', () => saidOf('unsubscribe').length === 1)
    service.append('orders')
    assert.equal(saidOf('subscribe').length, 1)
    assert.deepEqual(
      await seqsOf(orders, 23),
      Array.from({ length: 23 }, (_, at) => at + 1),
    )
    const resumed = saidOf('subscribe').map(({ fromSeq }) => fromSeq!)
    assert.deepEqual(resumed.slice(0, 2), [1, 5])
    // Four events wait, and the reader takes one meanwhile.
    for (let at = 1; at < resumed.length; at += 1) assert.ok(resumed[at]! - resumed[at - 1]! <= 5, resumed.join())
  })

  it('takes nothing of the subscription it ended for one of the new', async () => {
    open({ maxWaiting: 2 })
    const orders = stream.orders({ fromSeq: 1 })
    await subscribed(1)
    service.setBusy(true)
    for (let at = 0; at < 3; at += 1) service.append('orders')
    await until('it is full', () => saidOf('unsubscribe').length === 1)
    assert.deepEqual(await seqsOf(orders, 2), [1, 2])
    await subscribed(2)
    const next = orders.next()
    // The third event came while nothing was wanted, and this one before the new subscription was answered.
    service.append('orders')
    const prices = stream.prices()
    await subscribed(3)
    service.setBusy(false)
    await valueOf(prices)
    assert.equal((await next).value?.seq, 3)
    assert.deepEqual(await seqsOf(orders, 1), [4])
  })

  it('keeps a paused subscription paused over a cut', async () => {
    open({ maxWaiting: 2 })
    for (let at = 0; at < 3; at += 1) service.append('orders')
    const orders = stream.orders({ fromSeq: 1 })
    const prices = stream.prices()
    await until('it is full', () => saidOf('unsubscribe').length === 1)
    service.cut()
    await until('it is back', () => saidOf('subscribe').filter(({ channel }) => channel === 'prices').length === 2)
    assert.equal(saidOf('subscribe').filter(({ channel }) => channel === 'orders').length, 1)
    assert.deepEqual(await seqsOf(orders, 3), [1, 2, 3])
    prices.close()
  })

  it('gives a slow reader of prices the newest, and nothing else waits', async () => {
    const prices = stream.prices({ markets: ['A', 'C'] })
    await subscribed(1)
    const price = (mark: string, market = 'A') => ({ market, mark, index: mark, updatedAt: 1 })
    for (let seq = 1; seq <= 50; seq += 1) {
      const data = [price(String(seq)), price('7', 'B')]
      service.tell({ channel: 'prices', snapshot: false, seq, data })
    }
    let told = await valueOf(prices)
    while (told.seq < 50) told = await valueOf(prices)
    assert.deepEqual(told.data, [price('50')])
  })

  it('asks for one market alone when only one is wanted', async () => {
    const [one, again, all] = [stream.prices({ markets: ['A'] }), stream.prices({ markets: ['A'] }), stream.prices()]
    await subscribed(2)
    assert.deepEqual(saidOf('subscribe'), [
      { op: 'subscribe', channel: 'prices', market: 'A' },
      { op: 'subscribe', channel: 'prices' },
    ])
    assert.deepEqual([(await valueOf(one)).market, (await valueOf(again)).market], ['A', 'A'])
    assert.equal((await valueOf(all)).market, undefined)
    const data = [{ market: 'A', mark: '7', index: '7', updatedAt: 1 }]
    service.tell({ channel: 'prices', market: 'A', snapshot: false, seq: 1, data })
    assert.deepEqual((await valueOf(one)).data, data)
  })

  it('has one subscription for all readers of a price, and a snapshot for who comes later', async () => {
    const first = stream.prices()
    await valueOf(first)
    const data = [{ market: 'A', mark: '5', index: '5', updatedAt: 1 }]
    service.tell({ channel: 'prices', snapshot: false, seq: 1, data })
    assert.equal((await valueOf(first)).snapshot, false)
    const second = await valueOf(stream.prices())
    assert.deepEqual([second.snapshot, second.seq, second.data], [true, 1, data])
    assert.deepEqual([saidOf('subscribe').length, service.connections()], [1, 1])
  })

  it('asks for a snapshot when a number is missing', async () => {
    const prices = stream.prices()
    await valueOf(prices)
    service.tell({ channel: 'prices', snapshot: false, seq: 2, data: [] })
    assert.equal((await valueOf(prices)).snapshot, true)
    assert.deepEqual(
      service.said.map(({ op }) => op),
      ['subscribe', 'unsubscribe', 'subscribe'],
    )
  })

  it('has a connection of its own for a second subscription to a private channel', async () => {
    const [first, second] = [stream.orders(), stream.orders({ fromSeq: 1 })]
    await valueOf(first)
    await subscribed(2)
    service.append('orders')
    assert.deepEqual([(await valueOf(first)).seq, (await valueOf(second)).seq], [1, 1])
    assert.equal(service.connections(), 2)
  })

  it('tries again what the service can not do yet', async () => {
    service.refuse('subscribe', 'NOT_READY')
    assert.equal((await valueOf(stream.book('BTC/USD'))).snapshot, true)
    service.refuse('auth', 'RATE_LIMITED')
    service.refuse('auth', 'NONCE_REUSED')
    assert.equal((await valueOf(stream.orders())).snapshot, true)
    assert.deepEqual([saidOf('auth').length, service.connections()], [3, 1])
  })

  it('ends the subscription that is refused, and no other', async () => {
    const prices = stream.prices()
    await valueOf(prices)
    service.refuse('subscribe', 'MARKET_NOT_FOUND')
    const [bad, good] = [stream.book('NO/USD'), stream.book('BTC/USD')]
    await assert.rejects(bad.next(), { name: 'BezelApiError', code: 'MARKET_NOT_FOUND', status: 404, retryable: false })
    assert.equal((await valueOf(good)).snapshot, true)
    assert.equal(service.connections(), 1)
  })

  it('ends private subscriptions alone when the credentials are refused, and shows them anew to the next', async () => {
    const prices = stream.prices()
    await valueOf(prices)
    service.refuse('auth', 'AGENT_UNKNOWN')
    const [orders, fills] = [stream.orders(), stream.fills()]
    await assert.rejects(orders.next(), { code: 'AGENT_UNKNOWN', status: 401 })
    await assert.rejects(fills.next(), { code: 'AGENT_UNKNOWN' })
    assert.equal((await valueOf(stream.orders())).snapshot, true)
    service.tell({ channel: 'prices', snapshot: false, seq: 1, data: [] })
    assert.equal((await valueOf(prices)).seq, 1)
  })

  it('ends private subscriptions when the credentials end', async () => {
    const [orders, prices] = [stream.orders(), stream.prices()]
    await valueOf(orders)
    await valueOf(prices)
    const details = { requestId: 'abc', docs: '/docs/errors#agent_revoked' }
    service.say({ op: 'error', code: 'AGENT_REVOKED', message: 'The trader revoked this agent.', details })
    const docs = `${service.url.replace(/^ws/, 'http')}${details.docs}`
    await assert.rejects(orders.next(), { code: 'AGENT_REVOKED', status: 403, requestId: 'abc', docs })
    service.tell({ channel: 'prices', snapshot: false, seq: 1, data: [] })
    assert.equal((await valueOf(prices)).seq, 1)
  })

  it('says that there are no credentials', async () => {
    stream = createStream({ url: service.url, ...FAST })
    await assert.rejects(stream.orders().next(), { name: 'BezelConfigError', code: 'NO_CREDENTIALS' })
    await until('it hung up', () => service.openSockets() === 0)
  })

  it('says so on an open connection, too', async () => {
    stream = createStream({ url: service.url, ...FAST })
    await valueOf(stream.prices())
    await assert.rejects(stream.orders().next(), { code: 'NO_CREDENTIALS' })
    assert.equal(service.openSockets(), 1)
  })

  it('works with a class of WebSockets that is passed, and says when there is none', async (t) => {
    const own = globalThis.WebSocket
    t.after(() => (globalThis.WebSocket = own))
    globalThis.WebSocket = undefined as never
    assert.throws(() => stream.prices(), {
      name: 'BezelConfigError',
      code: 'NO_WEBSOCKET',
      message: /node .* version 22/,
    })
    open({ WebSocket })
    const orders = stream.orders()
    await valueOf(orders)
    service.cut()
    service.append('orders')
    assert.deepEqual(await seqsOf(orders, 1), [1])
  })

  it('notices a connection that is dead though nobody closed it', async () => {
    open({ heartbeatMs: 40 })
    const orders = stream.orders()
    await valueOf(orders)
    await until('it asks whether we are there', () => saidOf('ping').length > 0)
    assert.equal(service.connections(), 1)
    service.isFrozen = true
    await until('it gave up', () => statuses.find(({ state }) => state === 'waiting'))
    service.isFrozen = false
    service.append('orders')
    assert.deepEqual(await seqsOf(orders, 1), [1])
    const waiting = statuses.find((status) => status.state === 'waiting')
    assert.match(waiting?.state === 'waiting' ? waiting.reason : '', /^nothing heard/)
  })

  it('does not take a service for one that never greets', async () => {
    open({ connectTimeoutMs: 30, maxAttempts: 3 })
    service.isFrozen = true
    await assert.rejects(stream.prices().next(), { name: 'BezelNetworkError', code: 'NETWORK_ERROR' })
    assert.equal(statuses.filter(({ state }) => state === 'connecting').length, 3)
  })

  it('does not wait for what is no such service', async () => {
    const of = { method: 'GET', url: service.url, what: 'a page' }
    const foreign = new BezelNetworkError('UNEXPECTED_RESPONSE', { ...of, status: 404 })
    const away = new BezelNetworkError('UNEXPECTED_RESPONSE', { ...of, status: 502 })
    const answers = [away, foreign]
    const check = async () => {
      throw answers.shift() ?? foreign
    }
    stream = createStream({ url: service.url.replace(/\d+$/, '1'), check, minDelayMs: 50, maxDelayMs: 50 })
    await assert.rejects(stream.prices().next(), foreign)
    assert.equal(answers.length, 0)
  })

  it('finds out what no retry heals when it can not connect', async () => {
    const check = async () => {
      throw streamError({ code: 'CHAIN_NOT_FOUND', message: 'No such chain.' })
    }
    stream = createStream({ url: service.url.replace(/\d+$/, '1'), check, minDelayMs: 60_000, maxDelayMs: 60_000 })
    await assert.rejects(stream.prices().next(), { code: 'CHAIN_NOT_FOUND', status: 404 })
  })

  it('says no more in a second than the service listens to', async () => {
    const books = Array.from({ length: 25 }, (_, at) => stream.book(`M${at}/USD`))
    const startMs = performance.now()
    await Promise.all(books.map((book) => valueOf(book)))
    const ms = performance.now() - startMs
    assert.ok(ms >= 2_000, `25 subscriptions took ${ms} ms`)
  })

  it('takes another connection when one is full', async () => {
    const books = Array.from({ length: 201 }, (_, at) => stream.book(`M${at}/USD`))
    await until('it is connected', () => service.openSockets() === 2)
    for (const book of books) book.close()
    await until('it hung up', () => service.openSockets() === 0)
  })

  it('can be closed by whoever is told how it is', async () => {
    for (const [last, expected] of [
      ['open', ['connecting', 'open', 'closed']],
      ['waiting', ['connecting', 'open', 'waiting', 'closed']],
    ] as const) {
      const states: string[] = []
      const onStatus = ({ state }: StreamStatus): void => {
        states.push(state)
        if (state === last) stream.close()
      }
      open({ onStatus })
      const prices = stream.prices()
      if (last === 'waiting') {
        await valueOf(prices)
        service.cut()
      }
      assert.equal((await prices.next()).done, true)
      await until('it hung up', () => service.openSockets() === 0)
      assert.deepEqual(states, expected)
    }
    open()
    await valueOf(stream.prices())
    assert.equal(service.connections(), 3)
  })

  it('hangs up when nobody is left, and comes back for the next', async () => {
    for await (const { snapshot } of stream.prices()) {
      assert.equal(snapshot, true)
      break
    }
    await until('it hung up', () => service.openSockets() === 0)
    assert.equal(statuses.at(-1)!.state, 'closed')
    await valueOf(stream.prices())
    stream.close()
    await until('it hung up', () => service.openSockets() === 0)
    assert.equal(service.connections(), 2)
  })
})
