import { deepEqual, equal } from 'node:assert/strict'
import { after, afterEach, before, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { until } from '@bezel/testkit/until.ts'
import type { StreamBounds } from '../bounds.ts'
import type { StreamClient } from '../testing/streamClient.ts'
import { startStreamWorld, type StreamWorld } from '../testing/streamWorld.ts'

let world: StreamWorld
let clockMs = 0
const start = async (bounds: Partial<StreamBounds> = {}): Promise<void> =>
  void (world = await startStreamWorld({ bounds }))
afterEach(() => world.close())

const SHORT = { heartbeatMs: 60, idleMs: 180, sweepMs: 10, closeWaitMs: 100 }

/** Starts a world whose time only `pass` moves. */
async function startStill(bounds: Partial<StreamBounds>): Promise<void> {
  world = await startStreamWorld({ bounds, clock: () => clockMs })
}

/** Moves the time in steps of the sweep, and lets the work of each step finish. */
async function pass(ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 10) {
    clockMs += 10
    mock.timers.tick(10)
    await nextTick()
  }
}

describe('the heartbeat', () => {
  // All tests share one mock clock: a socket that ends late clears its timer, which must belong to the same clock.
  before(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }))
  after(() => mock.timers.reset())

  it('pings, and closes who says nothing', async () => {
    const startMs = Date.now()
    await startStill(SHORT)
    const client = await world.connect()
    equal((await client.next()).heartbeatMs, 60)
    await pass(60)
    const { op, timestamp } = await client.next()
    equal(op, 'ping')
    equal(Number(timestamp) >= startMs && Number(timestamp) <= Date.now(), true)
    await pass(110)
    equal(world.counts.sockets, 1)
    await pass(10)
    equal(await client.closed, 4408)
    await until('it is counted', () => world.counts.closed.get('4408') === 1)
  })

  it('takes any message, and protocol pings and pongs, for a sign of life', async () => {
    await startStill({ ...SHORT, idleMs: 600 })
    const witness = await world.connect()
    const says: ((client: StreamClient) => void)[] = [
      (client) => client.say({ op: 'pong' }),
      (client) => client.say('nonsense'),
      (client) => client.socket.ping('abc'),
      (client) => client.socket.pong(),
    ]
    const clients = await Promise.all(says.map(() => world.connect()))
    const pongs: string[] = []
    clients[2]!.socket.on('pong', (data) => pongs.push(String(data)))
    for (let i = 0; i < 16; i += 1) {
      clients.forEach((client, at) => says[at]!(client))
      // When this ping is answered, the service has received everything sent before.
      witness.say({ op: 'ping' })
      await until('an answer', () => witness.told.filter(({ op }) => op === 'pong').length > i)
      await pass(50)
    }
    equal(world.counts.sockets, 5)
    deepEqual(new Set(pongs), new Set(['abc']))
  })

  it('ends a connection whose other end does not answer the close', async () => {
    await startStill(SHORT)
    const deaf = await world.raw(true)
    deaf.pause()
    const startMs = clockMs
    await until('it is gone', async () => {
      if (clockMs - startMs < 500) await pass(10)
      return world.counts.sockets === 0
    })
    deaf.destroy()
  })
})

describe('a flood', () => {
  it('is answered once, closed with 4429, and not read on', async () => {
    await start({ closeWaitMs: 300 })
    const client = await world.connect()
    await client.next()
    for (let i = 0; i < 10_000; i += 1) client.say({ op: 'subscribe', channel: 'prices' })
    equal(await client.closed, 4429)
    const errors = client.told.filter(({ op }) => op === 'error')
    deepEqual(
      errors.map(({ code }) => code),
      ['RATE_LIMITED'],
    )
    equal(client.told.filter(({ op }) => op === 'subscribed').length, 20)
    await until('it is counted', () => world.counts.closed.get('4429') === 1)
  })

  it('of protocol pings is one too', async () => {
    await start({ closeWaitMs: 300 })
    const client = await world.connect()
    for (let i = 0; i < 100; i += 1) client.socket.ping()
    equal(await client.closed, 4429)
  })

  it('from a client that never stops costs nothing after it is cut', async () => {
    await start({ closeWaitMs: 300 })
    const socket = await world.raw(true)
    // A text frame with the payload `{}`, masked with zeros.
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d])
    const many = Buffer.concat(Array.from({ length: 8_192 }, () => frame))
    const pump = (): void => {
      while (!socket.destroyed && socket.write(many)) continue
    }
    socket.on('drain', pump)
    pump()
    await until('it is gone', () => world.counts.sockets === 0)
    equal(world.counts.closed.get('4429'), 1)
  })
})

describe('messages that are no messages', () => {
  it('of more than 4 KB close with 1009', async () => {
    await start()
    const client = await world.connect()
    await client.next()
    const text = JSON.stringify({ op: 'ping', x: '' })
    equal((await client.ask(text.replace('""', `"${'x'.repeat(4_096 - text.length)}"`))).code, 'VALIDATION_ERROR')
    client.say(text.replace('""', `"${'x'.repeat(4_097 - text.length)}"`))
    equal(await client.closed, 1009)
    await until('it is counted', () => world.counts.closed.get('1009') === 1)
  })

  it('in binary are refused and close with 1003', async () => {
    await start()
    const client = await world.connect()
    await client.next()
    client.socket.send(Buffer.from('{"op":"ping"}'))
    equal((await client.next()).code, 'VALIDATION_ERROR')
    equal(await client.closed, 1003)
  })

  it('in countless fragments, unmasked, or with reserved bits close it, and nothing else', async () => {
    await start()
    const other = await world.connect()
    const fragments = [Buffer.from([0x01, 0x80, 0, 0, 0, 0])]
    for (let i = 0; i < 100; i += 1) fragments.push(Buffer.from([0x00, 0x80, 0, 0, 0, 0]))
    for (const bytes of [Buffer.concat(fragments), Buffer.from([0x81, 0x00]), Buffer.from([0xf1, 0x80, 0, 0, 0, 0])]) {
      const socket = await world.raw(true)
      socket.write(bytes)
      socket.resume()
      await until('it is gone', () => world.counts.sockets === 1)
    }
    await other.next()
    equal((await other.ask({ op: 'ping' })).op, 'pong')
    deepEqual(world.counts.closed, new Map(Object.entries({ 1002: 2, 1008: 1 })))
  })

  it('in broken UTF-8 close with 1007', async () => {
    await start()
    const socket = await world.raw(true)
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]))
    await until('it is counted', () => world.counts.closed.get('1007') === 1)
    socket.destroy()
  })
})
