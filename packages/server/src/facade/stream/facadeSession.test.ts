import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { afterEach, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { until } from '@bezel/testkit/until.ts'
import { notReady } from '../../ground/unavailable.ts'
import { ALICE } from '../testing/facadeWorld.ts'
import { FACADE_CHANNELS } from './channels/facadeChannel.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'

let world: FacadeStreamWorld
const start = async (options: Parameters<typeof startFacadeStream>[0] = {}): Promise<FacadeClient> => {
  world = await startFacadeStream(options)
  return world.connect()
}
afterEach(() => world.close())

const errorOf = (text: string) => ({ channel: 'error', data: text })
const user = (byte: string): string => `0x${byte.repeat(20)}`

/**
 * Matches an answer to a request as a client does: every key of the request is there, and hex may differ in letter
 * case.
 */
function isSubset(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string' && typeof whole === 'string') return part.toLowerCase() === whole.toLowerCase()
  if (typeof part !== 'object' || part === null) return part === whole
  return Object.entries(part).every(([key, value]) => isSubset(value, (whole as Record<string, unknown>)[key]))
}

describe('a socket of the facade', () => {
  it('says nothing unasked, and answers a ping', async () => {
    const client = await start({ bounds: { heartbeatMs: 20, sweepMs: 10 } })
    let pings = 0
    client.socket.on('ping', () => (pings += 1))
    await until('it was asked for a sign of life', () => pings > 1)
    deepEqual(client.told, [])
    deepEqual(await client.ask({ method: 'ping' }), { channel: 'pong' })
  })

  it('lives by any word, and by the pong of its library', async () => {
    let clockMs = 0
    const silent = await start({ bounds: { idleMs: 150, heartbeatMs: 10_000, sweepMs: 10 }, clock: () => clockMs })
    const ponging = await world.connect()
    const talking = await world.connect()
    clockMs = 100
    ponging.socket.pong()
    deepEqual(await talking.ask({ method: 'ping' }), { channel: 'pong' })
    clockMs = 160
    equal(await silent.closed, 4408)
    // All were looked at in the same round.
    deepEqual([ponging.socket.readyState, talking.socket.readyState], [WebSocket.OPEN, WebSocket.OPEN])
  })

  it('acknowledges each subscription with all that was asked for, and tells it once', async () => {
    const client = await start()
    const upper = `0x${ALICE.slice(2).toUpperCase()}`
    const asked: Record<string, object> = {
      l2Book: { coin: 'BTC', nSigFigs: null, mantissa: null },
      bbo: { coin: 'BTC' },
      trades: { coin: 'BTC' },
      activeAssetCtx: { coin: 'BTC' },
      candle: { coin: 'BTC', interval: '1m' },
      activeAssetData: { coin: 'BTC', user: upper },
      userFills: { user: upper, aggregateByTime: false },
      clearinghouseState: { user: upper, dex: '' },
      allMids: {},
    }
    for (const type of FACADE_CHANNELS) {
      const subscription = { type, ...(asked[type] ?? { user: upper }), extra: { of: ['any'] } }
      client.say({ method: 'subscribe', subscription })
      const want = { method: 'subscribe', subscription }
      await until(`${type} is acknowledged`, () =>
        client.dataOf('subscriptionResponse').some((data) => isSubset(want, data)),
      )
      client.say({ method: 'subscribe', subscription })
      const text = `Already subscribed: ${JSON.stringify(subscription)}`
      await until(`${type} is there already`, () => client.dataOf<string>('error').includes(text))
    }
    for (const type of FACADE_CHANNELS) {
      if (type === 'notification' || type === 'orderUpdates' || type === 'userEvents') continue
      await until(`${type} was told`, () => client.dataOf(type).length > 0)
    }
    deepEqual(world.errors, [])
    client.socket.close()
    await until('all are ended', () => FACADE_CHANNELS.every((name) => world.counts[name].subscriptions === 0))
    deepEqual(world.watched, [])
  })

  it('takes what changes nothing for the same subscription', async () => {
    const client = await start()
    await client.subscribe({ type: 'clearinghouseState', user: ALICE.toLowerCase() })
    const again = { type: 'clearinghouseState', user: ALICE, dex: '' }
    client.say({ method: 'subscribe', subscription: again })
    await until('it is known', () =>
      client.dataOf<string>('error').includes(`Already subscribed: ${JSON.stringify(again)}`),
    )
  })

  it('ends a subscription once', async () => {
    const client = await start()
    const subscription = { type: 'bbo', coin: 'btc' }
    await client.subscribe(subscription)
    equal((await client.next()).channel, 'bbo')
    deepEqual(await client.ask({ method: 'unsubscribe', subscription }), {
      channel: 'subscriptionResponse',
      data: { method: 'unsubscribe', subscription },
    })
    const text = `Already unsubscribed: ${JSON.stringify(subscription)}`
    deepEqual(await client.ask({ method: 'unsubscribe', subscription }), errorOf(text))
    world.tick({ 0: 61_000 })
    deepEqual(await client.ask({ method: 'ping' }), { channel: 'pong' })
    equal(world.counts.bbo.subscriptions, 0)
  })

  it('refuses what is no subscription with its JSON, and goes on', async () => {
    const client = await start()
    const bad: object[] = [
      {},
      { type: 'nothing' },
      { type: 'constructor' },
      { type: 7 },
      { type: 'l2Book' },
      { type: 'l2Book', coin: 'NOPE' },
      { type: 'l2Book', coin: 'BTC', nSigFigs: 9 },
      { type: 'candle', coin: 'BTC', interval: '7m' },
      { type: 'orderUpdates' },
      { type: 'userFills', user: '0x12' },
      { type: 'clearinghouseState', user: ALICE, dex: 3 },
      { type: 'webData2', user: ALICE, dex: 'xyz' },
      { type: 'activeAssetData', user: ALICE, coin: '' },
    ]
    for (const subscription of bad) {
      const text = `Invalid subscription ${JSON.stringify(subscription)}`
      deepEqual(await client.subscribe(subscription), errorOf(text))
      deepEqual(await client.ask({ method: 'unsubscribe', subscription }), errorOf(text))
    }
  })

  it('quotes what it can not read at all', async () => {
    const client = await start()
    const bad = ['', '{', '[]', 'null', '{"method":"dance"}', '{"method":"subscribe"}', '{"method":"post","id":"a"}']
    const more = [
      '{"method":"post","id":1}',
      '{"method":"ping","method":"ping"}',
      '{"__proto__":{}}',
      `"${'x'.repeat(9_000)}"`,
    ]
    for (const text of [...bad, ...more]) {
      const data = (await client.ask(text)).data as string
      equal(data, `Error parsing JSON into valid websocket request: ${text.slice(0, 4_096)}`)
    }
  })

  it('has nothing in exchanges within the exchange', async () => {
    const client = await start()
    await client.subscribe({ type: 'allMids', dex: 'xyz' })
    deepEqual((await client.next()).data, { dex: 'xyz', mids: {} })
    await client.subscribe({ type: 'openOrders', user: ALICE, dex: 'xyz' })
    deepEqual((await client.next()).data, { dex: 'xyz', user: ALICE.toLowerCase(), orders: [] })
    await client.subscribe({ type: 'clearinghouseState', user: ALICE, dex: 'xyz' })
    const state = (await client.next()).data as { clearinghouseState: { withdrawable: string } }
    equal(state.clearinghouseState.withdrawable, '0.0')
  })
})

describe('a subscription that is shed', () => {
  it('costs its caller nothing', async () => {
    let isBusy = true
    const admit = (): void => {
      if (isBusy) throw notReady('overloaded')
    }
    const overload = { admit, shed: () => 0, tick: () => undefined }
    // The socket uses one of the limit.
    const client = await start({ ipLimit: 2, overload })
    const subscription = { type: 'notification', user: ALICE }
    for (const _ of [1, 2, 3]) equal((await client.subscribe(subscription)).channel, 'error')
    isBusy = false
    equal((await client.subscribe(subscription)).channel, 'subscriptionResponse')
    match((await client.subscribe({ ...subscription, type: 'userEvents' })).data as string, /The limit of 2 requests/)
  })
})

describe('the bounds of a socket of the facade', () => {
  it('are subscriptions and users, told so that a client knows what was refused', async () => {
    const client = await start({ bounds: { maxSubscriptions: 4, maxUsers: 2 } })
    const say = (type: string, of: object) => client.subscribe({ type, ...of })
    equal((await say('notification', { user: user('01') })).channel, 'subscriptionResponse')
    equal((await say('notification', { user: user('02') })).channel, 'subscriptionResponse')
    const third = { type: 'notification', user: user('03') }
    const refusal = `Invalid subscription ${JSON.stringify(third)}: a socket has at most 2 users; end one first.`
    deepEqual(await client.subscribe(third), errorOf(refusal))
    equal((await say('orderUpdates', { user: user('02') })).channel, 'subscriptionResponse')
    equal((await say('userEvents', { user: user('02') })).channel, 'subscriptionResponse')
    match((await say('userEvents', { user: user('01') })).data as string, /at most 4 subscriptions/)
  })

  it('are messages: a burst as after a break, and then so many in a second', async () => {
    const client = await start({ bounds: { maxMessageBurst: 60, maxMessagesPerSecond: 1 } })
    for (let i = 0; i < 60; i += 1) client.say({ method: 'ping' })
    await until('all are answered', () => client.dataOf('pong').length === 60)
    for (let i = 0; i < 10; i += 1) client.say({ method: 'ping' })
    equal(await client.closed, 4429)
    match(client.dataOf<string>('error')[0]!, /at most 1 messages in a second/)
  })

  it('are bytes: what a request may have, and no more', async () => {
    const client = await start()
    const payload = { type: 'l2Book', coin: 'BTC', pad: 'x'.repeat(60_000) }
    const answer = await client.ask({ method: 'post', id: 1, request: { type: 'info', payload } })
    equal(answer.channel, 'post')
    // The text of a subscription is chosen by the client and kept, and there may be hundreds, so its length is bounded.
    const subscription = { type: 'spotState', user: ALICE, dex: 'x'.repeat(4_096) }
    match((await client.subscribe(subscription)).data as string, /^Error parsing JSON/)
    equal(world.counts.spotState.subscriptions, 0)
    client.say('x'.repeat(65_537))
    equal(await client.closed, 1009)
  })

  it('are text alone', async () => {
    const client = await start()
    client.socket.send(Buffer.from('{"method":"ping"}'), { binary: true })
    equal(await client.closed, 1003)
    equal(client.dataOf('error').length, 1)
  })

  it('are sockets of an IP, refused in plain text', async () => {
    await start({ ipLimit: 1 })
    const asked = request(world.url.replace('ws:', 'http:'), {
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    equal(response.statusCode, 429)
    match(response.headers['content-type']!, /^text\/plain/)
    ok(!text.startsWith('{'))
  })
})
