import { deepEqual, equal } from 'node:assert/strict'
import type { Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import type { StreamBounds } from '../bounds.ts'
import { GOOD_KEY, startStreamWorld, type StreamWorld } from '../testing/streamWorld.ts'

let world: StreamWorld
const start = async (bounds: Partial<StreamBounds> = {}): Promise<void> =>
  void (world = await startStreamWorld({ bounds }))
afterEach(() => world.close())

/** Returns a text frame, masked with zeros. */
function masked(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message))
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

/** Publishes ticks until the reader has fallen behind, or enough of them to fill any kernel's buffers. */
async function tickUntil(isEnough: () => boolean): Promise<number> {
  let ticks = 0
  for (; ticks < 200_000 && !isEnough(); ticks += 1) {
    world.sources.tick({ 0: 60_001 + ticks })
    if (ticks % 100 === 0) await new Promise((soon) => setImmediate(soon))
  }
  return ticks
}

async function deafReader(...messages: object[]): Promise<Socket> {
  const socket = await world.raw(true)
  socket.pause()
  for (const message of messages) socket.write(masked(message))
  return socket
}

describe('a reader of latest values that does not read', () => {
  it('is written no more than the bound, and costs the others nothing', async () => {
    await start({ maxQueuedLatestBytes: 64 * 1024 })
    const other = await world.connect()
    await other.next()
    await other.ask({ op: 'subscribe', channel: 'prices' })
    const deaf = await deafReader({ op: 'subscribe', channel: 'prices' })
    await until('both listen', () => world.counts.channels.prices.subscriptions === 2)
    const { prices } = world.counts.channels
    await tickUntil(() => {
      const before = prices.sent
      world.sources.tick({ 0: 50_000 + Math.random() })
      return prices.sent - before === 1
    })
    const sent = prices.sent
    for (let i = 1; i <= 100; i += 1) world.sources.tick({ 0: 40_000 + i })
    equal(prices.sent - sent, 100)
    await until('the other one has all', () => JSON.stringify(other.told.at(-1)?.data).includes('"40100"'))
    const seqs = other.told.filter(({ data }) => data).map(({ seq }) => Number(seq))
    equal(
      seqs.every((seq, at) => seq === seqs[0]! + at),
      true,
    )
    deaf.destroy()
  })

  it('gets a snapshot with the current sequence when it reads again, and no delta before it', async () => {
    await start({ maxQueuedLatestBytes: 64 * 1024 })
    const client = await world.connect()
    await client.next()
    await client.ask({ op: 'subscribe', channel: 'prices' })
    await client.next()
    client.socket.pause()
    const { prices } = world.counts.channels
    let last = 0
    await tickUntil(() => {
      const before = prices.sent
      last = 50_000 + Math.floor(Math.random() * 10_000)
      world.sources.tick({ 0: last })
      return prices.sent === before
    })
    for (let i = 0; i < 10; i += 1) world.sources.tick({ 0: (last = 30_000 + i) })
    client.socket.resume()
    await until('it caught up', () => prices.snapshots === 1)
    world.sources.tick({ 0: 20_000 })
    await until('it is live again', () => JSON.stringify(client.told.at(-1)?.data).includes('"20000"'))
    const told = client.told.filter(({ data }) => data)
    const again = told.findLastIndex(({ snapshot }) => snapshot)
    equal(again > 0, true)
    equal(JSON.stringify(told[again]!.data).includes(`"${last}"`), true)
    const seqs = told.map(({ seq }) => Number(seq))
    equal(seqs[again + 1], seqs[again]! + 1)
    // Deltas follow each other without a gap, before and after the snapshot.
    for (let at = 1; at < told.length; at += 1) if (at !== again) equal(seqs[at], seqs[at - 1]! + 1)
    equal(seqs[again]! > seqs[again - 1]!, true)
  })

  it('is ended when nothing moves for long, though it still talks', async () => {
    await start({ maxQueuedLatestBytes: 64 * 1024, stuckMs: 150, sweepMs: 10 })
    const deaf = await deafReader({ op: 'subscribe', channel: 'prices' })
    await until('it listens', () => world.counts.channels.prices.subscriptions === 1)
    const { prices } = world.counts.channels
    await tickUntil(() => {
      const before = prices.sent
      world.sources.tick({ 0: 50_000 + Math.random() })
      return prices.sent === before
    })
    await until('it is gone', () => {
      deaf.write(masked({ op: 'pong' }))
      return world.counts.sockets === 0
    })
    equal(world.counts.channels.prices.subscriptions, 0)
    deaf.destroy()
  })
})

describe('a reader of a log that does not read', () => {
  it('is told so, and cut with 4429', async () => {
    await start({ maxQueuedLogBytes: 64 * 1024 })
    const client = await world.connect({ key: GOOD_KEY })
    await client.next()
    await client.next()
    await client.ask({ op: 'subscribe', channel: 'orders' })
    client.socket.pause()
    const [connection] = world.logConnections
    const text = JSON.stringify({ channel: 'orders', data: 'x'.repeat(10_000) })
    for (let i = 0; i < 10_000 && connection!.isOpen; i += 1) {
      connection!.send(text)
      if (i % 10 === 0) await new Promise((soon) => setImmediate(soon))
    }
    equal(connection!.isOpen, false)
    connection!.send(text)
    equal(connection!.offer(Buffer.from(text)), false)
    client.socket.resume()
    equal(await client.closed, 4429)
    deepEqual(client.told.at(-1)?.code, 'RATE_LIMITED')
    deepEqual(client.told.filter(({ op }) => op === 'error').length, 1)
  })

  it('is waited for by who wants to send much', async () => {
    await start({ maxQueuedLatestBytes: 64 * 1024 })
    const client = await world.connect({ key: GOOD_KEY })
    await client.ask({ op: 'subscribe', channel: 'orders' })
    await until('it listens', () => world.logConnections.length === 1)
    const [connection] = world.logConnections
    let drained = 0
    connection!.onDrain(() => (drained += 1))
    equal(drained, 0)
    await until('it was called though nothing waited', () => drained === 1)

    client.socket.pause()
    const text = JSON.stringify({ channel: 'orders', data: 'x'.repeat(100_000) })
    while (!connection!.isBehind) {
      connection!.send(text)
      await new Promise((soon) => setImmediate(soon))
    }
    connection!.onDrain(() => (drained += 1))
    connection!.onDrain(() => (drained += 1))
    // Other clients are served meanwhile.
    await (await world.connect()).next()
    equal(drained, 1)
    client.socket.resume()
    await until('both were called', () => drained === 3)
    equal(connection!.isBehind, false)
  })
})
