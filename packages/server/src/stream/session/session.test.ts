import { deepEqual, equal, match } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { ApiError, CANDLE_INTERVALS, CLIENT_MESSAGES, STREAM_CHANNELS } from '@bezel/protocol'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { until } from '@bezel/testkit/until.ts'
import { notReady } from '../../ground/unavailable.ts'
import type { StreamClient, Told } from '../testing/streamClient.ts'
import { GOOD_KEY, startStreamWorld, TRADER, type StreamWorld } from '../testing/streamWorld.ts'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { parseClientMessage } from './session.ts'

const parse = (message: unknown): unknown => parseClientMessage(Buffer.from(JSON.stringify(message)))

/** Values that are valid in some field, and some that are valid in none. */
const fieldValue = fc.oneof(
  fc.constantFrom('subscribe', 'unsubscribe', 'auth', 'ping', 'pong', 'BTC/USD', 'gk_x', '17', 17, -1, null, true, {}),
  fc.constantFrom(...STREAM_CHANNELS, ...Object.keys(CANDLE_INTERVALS)),
  fc.constantFrom(`0x${'ab'.repeat(20)}`, `0x${'ab'.repeat(65)}`),
)

const field = fc.constantFrom('op', 'id', 'channel', 'market', 'interval', 'fromSeq', 'agent', 'nonce', 'apiKey', 'x')

let world: StreamWorld

let client: StreamClient

beforeEach(async () => {
  world = await startStreamWorld({ bounds: { maxMessagesPerSecond: 1_000 } })
  client = await world.connect()
  await client.next()
})

afterEach(() => {
  mock.timers.reset()
  return world.close()
})

const BOOK = { channel: 'book', market: 'BTC/USD' }

describe('what is not understood is refused, with what would be', () => {
  const OPS = /message\.op .*"subscribe", "unsubscribe", "auth", "ping", "pong"/
  const CHANNELS = /message\.channel .*"prices", "book", .*"account"/
  const cases: readonly [message: object | string, expected: RegExp][] = [
    ['', /message is empty/],
    ['{', /not JSON/],
    ['{"op":"ping"} x', /nothing more/],
    ['{"op":"ping","op":"ping"}', /message\.op is given twice/],
    ['{"op":"ping","__proto__":1}', /not allowed/],
    ['\ufeff{"op":"ping"}', /byte order mark/],
    [`${'['.repeat(40)}${']'.repeat(40)}`, /nested/],
    ['null', /message must be an object/],
    ['[]', /message must be an object/],
    ['"ping"', /message must be an object/],
    ['7', /message must be an object/],
    [{}, OPS],
    [{ op: 'Ping' }, OPS],
    [{ op: 7 }, OPS],
    [{ op: 'toString' }, OPS],
    [{ op: 'ping', a: 1 }, /message\.a is not known; the fields are op, id\./],
    [{ op: 'ping', id: '' }, /message\.id must be a string of 1 to 64 characters or an integer from 0 to \d+\./],
    [{ op: 'ping', id: {} }, /message\.id must be/],
    [{ op: 'pong', timestamp: 'x' }, /message\.timestamp must be an integer/],
    [{ op: 'subscribe' }, CHANNELS],
    [{ op: 'subscribe', channel: 'quotes' }, CHANNELS],
    [{ op: 'subscribe', channel: null }, CHANNELS],
    [{ op: 'unsubscribe', channel: 'constructor' }, CHANNELS],
    [{ op: 'subscribe', channel: 'prices', market: 'BTC-USD' }, /message\.market must be a string that matches/],
    [{ op: 'subscribe', channel: 'prices', interval: '1m' }, /message\.interval is not known/],
    [{ op: 'subscribe', channel: 'book' }, /message\.market is missing; it is a string that matches/],
    [{ op: 'subscribe', channel: 'book', market: 'btc/usd' }, /message\.market must be a string that matches/],
    [{ op: 'subscribe', channel: 'book', market: 7 }, /message\.market must be/],
    [{ op: 'subscribe', ...BOOK, interval: '1m' }, /message\.interval is not known/],
    [{ op: 'subscribe', channel: 'trades', market: 'BTC/USD', a: 1, b: 2 }, /message\.a is not known/],
    [{ op: 'subscribe', channel: 'candles', market: 'BTC/USD' }, /message\.interval is missing; it is one of "1m"/],
    [
      { op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '2m' },
      /message\.interval must be one of "1m", "5m", "15m", "30m", "1h", "4h", "1d"/,
    ],
    [{ op: 'subscribe', channel: 'orders', fromSeq: 0 }, /message\.fromSeq must be an integer from 1 to/],
    [{ op: 'subscribe', channel: 'orders', fromSeq: '1' }, /message\.fromSeq must be/],
    [{ op: 'subscribe', channel: 'orders', fromSeq: 1.5 }, /message\.fromSeq must be/],
    [{ op: 'unsubscribe', channel: 'orders', fromSeq: 1 }, /message\.fromSeq is not known/],
    [{ op: 'auth' }, /message\.agent is missing/],
    [{ op: 'auth', apiKey: '' }, /message\.apiKey must be a string of 1 to 128/],
    [{ op: 'auth', apiKey: 'a', agent: TRADER }, /message\.agent is not known/],
    [{ op: 'auth', agent: TRADER, timestamp: 5, nonce: '1', signature: '0x' }, /message\.timestamp must be a string/],
    [{ op: 'auth', agent: TRADER, timestamp: '5', nonce: '1', signature: '0x' }, /message\.signature must be/],
  ]
  for (const [message, expected] of cases) {
    it(JSON.stringify(message).slice(0, 90), async () => {
      const { op, code, message: text, channel, details, ...rest } = await client.ask(message)
      deepEqual([op, code, ownDetails(details), rest], ['error', 'VALIDATION_ERROR', {}, {}])
      const named = typeof message === 'object' && 'channel' in message ? message.channel : undefined
      equal(
        channel,
        STREAM_CHANNELS.find((known) => known === named),
      )
      match(String(text), expected)
      equal((await client.ask({ op: 'ping' })).op, 'pong')
    })
  }

  it('is recognised by the id that its client gave it, and by its channel', async () => {
    const errorOf = async (message: object) => {
      const { op, code, id, channel, market, interval } = await client.ask(message)
      return [op, code, id, channel, market, interval]
    }
    const book = { op: 'subscribe', channel: 'book', market: 'DOGE/USD', id: 'mine' }
    deepEqual(await errorOf(book), ['error', 'MARKET_NOT_FOUND', 'mine', 'book', 'DOGE/USD', undefined])
    const prices = { op: 'subscribe', channel: 'prices', market: 'DOGE/USD', id: 6 }
    deepEqual(await errorOf(prices), ['error', 'MARKET_NOT_FOUND', 6, 'prices', 'DOGE/USD', undefined])
    const candles = { op: 'subscribe', channel: 'candles', market: 'DOGE/USD', interval: '1m', id: 7 }
    deepEqual(await errorOf(candles), ['error', 'MARKET_NOT_FOUND', 7, 'candles', 'DOGE/USD', '1m'])
    const orders = { op: 'subscribe', channel: 'orders', id: 8 }
    deepEqual(await errorOf(orders), ['error', 'UNAUTHENTICATED', 8, 'orders', undefined, undefined])
    const invalid = { op: 'subscribe', channel: 'book', id: 9 }
    deepEqual(await errorOf(invalid), ['error', 'VALIDATION_ERROR', 9, 'book', undefined, undefined])
    const unknown = { op: 'dance', channel: 'floor', id: 'a'.repeat(65) }
    deepEqual(await errorOf(unknown), ['error', 'VALIDATION_ERROR', undefined, undefined, undefined, undefined])
    deepEqual(await errorOf({ op: 'auth', apiKey: 'gk_bad', id: 10 }), [
      'error',
      'API_KEY_UNKNOWN',
      10,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('comes back with the id of a message that was understood, too', async () => {
    deepEqual((await client.ask({ op: 'ping', id: 0 })).id, 0)
    deepEqual(await client.ask({ op: 'subscribe', ...BOOK, id: 'b' }), { op: 'subscribed', ...BOOK, id: 'b' })
    await client.next()
    deepEqual(await client.ask({ op: 'unsubscribe', ...BOOK, id: 'c' }), { op: 'unsubscribed', ...BOOK, id: 'c' })
    equal((await client.ask({ op: 'auth', apiKey: GOOD_KEY, id: 'd' })).id, 'd')
  })

  it('does not quote long names back', async () => {
    const { message } = await client.ask({ op: 'ping', ['x'.repeat(1_000)]: 1 })
    equal(String(message).length < 150, true)
  })
})

describe('subscriptions', () => {
  it('answers ping, and takes pong', async () => {
    client.say({ op: 'pong', timestamp: 5 })
    client.say({ op: 'pong' })
    const askedAtMs = Date.now()
    const { op, timestamp } = await client.ask({ op: 'ping' })
    equal(op, 'pong')
    equal(Number(timestamp) >= askedAtMs && Number(timestamp) <= Date.now(), true)
  })

  it('confirms before the snapshot, and a second time as a duplicate', async () => {
    deepEqual(await client.ask({ op: 'subscribe', ...BOOK }), { op: 'subscribed', ...BOOK })
    equal((await client.next()).snapshot, true)
    deepEqual(await client.ask({ op: 'subscribe', ...BOOK }), { op: 'subscribed', ...BOOK, duplicate: true })
    equal(world.counts.channels.book.subscriptions, 1)
    equal((await client.ask({ op: 'ping' })).op, 'pong')
  })

  it('ends one, and is content when there is none', async () => {
    await client.ask({ op: 'subscribe', ...BOOK })
    await client.next()
    for (const _ of [1, 2]) deepEqual(await client.ask({ op: 'unsubscribe', ...BOOK }), { op: 'unsubscribed', ...BOOK })
    deepEqual(await client.ask({ op: 'unsubscribe', channel: 'orders' }), { op: 'unsubscribed', channel: 'orders' })
    world.sources.tick({ 0: 61_000 })
    equal((await client.ask({ op: 'ping' })).op, 'pong')
    equal(world.counts.channels.book.subscriptions, 0)
  })

  it('refuses markets that there are not, and prices that there are not yet', async () => {
    for (const channel of ['book', 'trades']) {
      equal((await client.ask({ op: 'subscribe', channel, market: 'DOGE/USD' })).code, 'MARKET_NOT_FOUND')
    }
    const candles = { channel: 'candles', market: 'DOGE/USD', interval: '1m' }
    equal((await client.ask({ op: 'subscribe', ...candles })).code, 'MARKET_NOT_FOUND')
    world.sources.world.hasSnapshot = false
    equal((await client.ask({ op: 'subscribe', channel: 'prices' })).code, 'NOT_READY')
    equal(world.counts.channels.prices.subscriptions, 0)
  })

  it('allows so many, and the socket stays', async () => {
    await world.close()
    world = await startStreamWorld({ bounds: { maxSubscriptions: 2 } })
    client = await world.connect()
    await client.next()
    for (const market of ['BTC/USD', 'EUR/USD']) {
      await client.ask({ op: 'subscribe', channel: 'trades', market })
      await client.next()
    }
    equal((await client.ask({ op: 'subscribe', channel: 'prices' })).code, 'RATE_LIMITED')
    equal((await client.ask({ op: 'subscribe', channel: 'trades', market: 'EUR/USD' })).duplicate, true)
    await client.ask({ op: 'unsubscribe', channel: 'trades', market: 'EUR/USD' })
    equal((await client.ask({ op: 'subscribe', channel: 'prices' })).op, 'subscribed')
  })

  it('is shed when there is too much to do, unless the client showed who it is', async () => {
    await world.close()
    const admit = (): void => {
      throw notReady('overloaded')
    }
    world = await startStreamWorld({ overload: { admit } })
    client = await world.connect()
    await client.next()
    const { code, details } = await client.ask({ op: 'subscribe', ...BOOK })
    deepEqual([code, ownDetails(details)], ['NOT_READY', { reason: 'overloaded' }])
    equal((await client.ask({ op: 'auth', apiKey: GOOD_KEY })).op, 'authenticated')
    equal((await client.ask({ op: 'subscribe', ...BOOK })).op, 'subscribed')
  })

  it('tells of a fault of the service without saying what it was', async () => {
    world.sources.trades.list = () => Promise.reject(new Error('secret'))
    const { code, message } = await client.ask({ op: 'subscribe', channel: 'trades', market: 'BTC/USD' })
    equal(code, 'INTERNAL')
    equal(String(message).includes('secret'), false)
    equal(world.errors.length, 1)
  })

  it('ends them all with the socket', async () => {
    await client.ask({ op: 'subscribe', ...BOOK })
    client.socket.terminate()
    await until('it is gone', () => world.counts.sockets === 0)
    equal(world.counts.channels.book.subscriptions, 0)
    deepEqual([...world.counts.closed], [['1006', 1]])
  })
})

describe('authentication', () => {
  it('opens private channels', async () => {
    equal((await client.ask({ op: 'subscribe', channel: 'orders' })).code, 'UNAUTHENTICATED')
    equal((await client.ask({ op: 'auth', apiKey: 'gk_bad' })).code, 'API_KEY_UNKNOWN')
    const authenticated = { op: 'authenticated', trader: TRADER, via: 'apiKey' }
    deepEqual(await client.ask({ op: 'auth', apiKey: GOOD_KEY }), authenticated)
    equal((await client.ask({ op: 'auth', apiKey: GOOD_KEY })).code, 'VALIDATION_ERROR')
    deepEqual(await client.ask({ op: 'subscribe', channel: 'orders', fromSeq: 5 }), {
      op: 'subscribed',
      channel: 'orders',
    })
    equal((await client.ask({ op: 'subscribe', channel: 'orders' })).duplicate, true)
  })

  it('is over when it lapses, with the private channels alone', async () => {
    await client.ask({ op: 'auth', apiKey: GOOD_KEY })
    await client.ask({ op: 'subscribe', channel: 'orders' })
    await client.ask({ op: 'subscribe', ...BOOK })
    await client.next()
    world.logConnections[0]!.lapse(new ApiError('AGENT_REVOKED', 'The trader revoked the agent.'))
    equal((await client.next()).code, 'AGENT_REVOKED')
    equal(world.counts.channels.orders.subscriptions, 0)
    equal(world.counts.channels.book.subscriptions, 1)
    equal((await client.ask({ op: 'subscribe', channel: 'orders' })).code, 'UNAUTHENTICATED')
    equal((await client.ask({ op: 'auth', apiKey: GOOD_KEY })).op, 'authenticated')
  })
})

describe('authentication anew', () => {
  it('is possible when the credentials before it are over, though nothing was told since', async () => {
    await client.ask({ op: 'auth', apiKey: GOOD_KEY })
    world.lapse = new ApiError('API_KEY_UNKNOWN', 'This key was replaced.')
    equal((await client.ask({ op: 'auth', apiKey: GOOD_KEY })).code, 'API_KEY_UNKNOWN')
    equal((await client.next()).op, 'authenticated')
  })
})

describe('credentials that end', () => {
  it('are told without waiting for anything to happen, and nobody is watched for them any more', async () => {
    await world.close()
    world = await startStreamWorld({ bounds: { sweepMs: 10 } })
    client = await world.connect({ key: GOOD_KEY })
    await client.next()
    await client.next()
    await client.ask({ op: 'subscribe', channel: 'orders' })
    world.lapse = new ApiError('API_KEY_UNKNOWN', 'This key was replaced.')
    equal((await client.next()).code, 'API_KEY_UNKNOWN')
    equal(world.counts.channels.orders.subscriptions, 0)
    world.lapse = undefined
    equal((await client.ask({ op: 'ping' })).op, 'pong')
    equal(client.told.filter(({ op }) => op === 'error').length, 1)
  })
})

describe('the order', () => {
  it('is that of the messages, also when one has to wait', async () => {
    let go = (): void => undefined
    world.authDelay = new Promise((resolve) => (go = resolve))
    const { authDelay } = world
    client.say({ op: 'auth', apiKey: GOOD_KEY })
    client.say({ op: 'subscribe', channel: 'orders' })
    client.say('{')
    client.say({ op: 'subscribe', channel: 'trades', market: 'BTC/USD' })
    client.say({ op: 'unsubscribe', channel: 'trades', market: 'BTC/USD' })
    client.say({ op: 'ping' })
    // A new connection is answered after the service has received everything sent before.
    await (await world.connect()).next()
    equal(client.told.length, 1)
    go()
    await authDelay
    const told: Told[] = []
    while (told.at(-1)?.op !== 'pong') told.push(await client.next())
    deepEqual(
      told.map(({ op, channel }) => op ?? channel),
      ['authenticated', 'subscribed', 'error', 'subscribed', 'trades', 'unsubscribed', 'pong'],
    )
  })

  it('does not hold more than so many messages', async () => {
    world.authDelay = new Promise(() => undefined)
    client.say({ op: 'auth', apiKey: GOOD_KEY })
    for (let i = 0; i < 501; i += 1) client.say({ op: 'ping' })
    equal((await client.next()).code, 'RATE_LIMITED')
    equal(await client.closed, 4429)
  })
})

describe('a source that is slow', () => {
  const chart = (market: string): object => ({ op: 'subscribe', channel: 'candles', market, interval: '1m' })

  it('makes a subscription fail in the end, and holds no message up for longer than that', async () => {
    await world.close()
    mock.timers.enable({ apis: ['setTimeout'] })
    let clockMs = 0
    const bounds = { maxMessagesPerSecond: 1_000, maxWaitMs: 200 }
    world = await startStreamWorld({ bounds, clock: () => clockMs })
    client = await world.connect()
    await client.next()
    let go = (): void => undefined
    let asked = 0
    world.sources.candles.recent = () => {
      asked += 1
      return new Promise((resolve) => (go = () => resolve([])))
    }
    client.say(chart('BTC/USD'))
    client.say(chart('EUR/USD'))
    client.say({ op: 'auth', apiKey: GOOD_KEY })
    client.say({ op: 'subscribe', ...BOOK })
    await until('the first one waits', () => asked === 1)
    // Another client has connected since, so all messages have arrived.
    await (await world.connect()).next()
    clockMs += 201
    mock.timers.tick(200)
    await until('the second one is asked for', () => asked === 2)
    mock.timers.tick(1)
    const codes = [(await client.next()).code, (await client.next()).code, (await client.next()).code]
    deepEqual(codes, ['NOT_READY', 'NOT_READY', 'NOT_READY'])
    deepEqual(await client.next(), { op: 'subscribed', ...BOOK })
    mock.timers.reset()
    go()
    await client.next()
    equal((await client.ask({ op: 'ping' })).op, 'pong')
    equal(world.counts.channels.candles.subscriptions, 0)
  })

  it('does not cut a client that keeps to its rate meanwhile', async () => {
    let go = (): void => undefined
    world.sources.candles.recent = () => new Promise((resolve) => (go = () => resolve([])))
    client.say(chart('BTC/USD'))
    // 20 messages a second for as long as the first may wait, 15 s.
    for (let i = 0; i < 300; i += 1) client.say({ op: 'ping' })
    await until('they wait', () => world.counts.sockets === 1)
    await (await world.connect()).next()
    go()
    await until('all are answered', () => client.told.filter(({ op }) => op === 'pong').length === 300)
  })
})

describe('client messages', () => {
  it('are taken exactly when one of the schemas allows them', () => {
    fc.assert(
      fc.property(fc.dictionary(field, fieldValue, { maxKeys: 5 }), (message) => {
        const isAllowed = Object.values(CLIENT_MESSAGES).some((schema) => Value.Check(schema, message))
        const parsed = parse(message)
        equal(parsed instanceof ApiError, !isAllowed, JSON.stringify(message))
        if (isAllowed) deepEqual(parsed, { ...message })
      }),
      { numRuns: 2_000 },
    )
  })

  it('can be any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const parsed = parseClientMessage(bytes)
        equal(parsed instanceof ApiError && parsed.code, 'VALIDATION_ERROR')
      }),
    )
  })
})
