import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { PAIRS } from '../listing/pairs.ts'
import { createFeedFaults } from './feedFaults.ts'
import { createPrices } from './prices.ts'
import { listenFeed, type StandaloneFeed } from './testing/standalone.ts'

const THURSDAY = Date.UTC(2026, 10, 12, 15)

let clockMs = THURSDAY
const prices = createPrices({ seed: 1, now: () => clockMs })
const faults = createFeedFaults(prices.pairs)
let feed: StandaloneFeed

before(async () => {
  feed = await listenFeed(prices, 0, { faults })
})

after(() => feed.close())

const pass = (ms: number) => {
  clockMs += ms
  prices.advance()
}

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(feed.url + path)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Connects a client that keeps everything it receives. */
async function listen(path: string, url = feed.url) {
  const socket = new WebSocket(url.replace('http', 'ws') + path)
  const messages: unknown[] = []
  socket.on('message', (data) => messages.push(JSON.parse((data as Buffer).toString())))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const received = async (count: number) => {
    for (let waitedMs = 0; messages.length < count && waitedMs < 120_000; waitedMs += 5) await delay(5)
    return messages
  }
  return { socket, received }
}

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('the stream', () => {
  it('speaks version 4: marks, indices and the time, with a heartbeat each second', async () => {
    pass(1_000 - (clockMs % 1_000))
    prices.sleep('BONK/USD', false)
    prices.freeze('BONK/USD', true)
    const { socket, received } = await listen('/v4')
    pass(1_000)
    const [first, , , fourth, heartbeat] = (await received(5)) as [V4, V4, V4, V4, number[]]
    assert.deepEqual(Object.keys(first), ['m', 'i', 't'])
    assert.equal(fourth.t, clockMs)
    assert.equal(first.t, clockMs - 750)
    assert.ok(first.m.length > PAIRS.length && first.m.length < 2 * PAIRS.length, 'the pairs that changed')
    assert.equal(first.m[0], 0)
    assert.equal(typeof first.m[1], 'number')
    assert.ok(priceIn(first.m, 193)! < priceIn(first.i, 193)!, 'a volatile pair')
    assert.equal(priceIn(first.m, 1), priceIn(first.i, 1))
    assert.deepEqual(heartbeat, [clockMs])
    socket.terminate()
  })

  for (const path of ['/', '/v3', '/v3/?x=1']) {
    it(`speaks version 3 at ${path}: one flat array`, async () => {
      const { socket, received } = await listen(path)
      pass(250)
      const [first] = (await received(1)) as [number[]]
      assert.ok(first.length > PAIRS.length && first.length % 2 === 0)
      assert.equal(priceIn(first, 0), Number(prices.quote(0).mark) / 1e10)
      socket.terminate()
    })
  }

  it('tells a price set by hand at once, that market alone', async () => {
    const { socket, received } = await listen('/v4')
    clockMs += 10
    prices.setPrice('BTC/USD', '61234.5678901')
    const [first] = (await received(1)) as [V4]
    assert.deepEqual(first, { m: [0, 61234.5678901], i: [0, 61234.5678901], t: clockMs })
    socket.terminate()
  })

  it('is refused at any other path', async () => {
    await assert.rejects(listen('/v5'), /404/)
  })

  it('is refused when all are taken', async () => {
    const small = await listenFeed(prices, 0, { maxSockets: 1 })
    const { socket } = await listen('/v4', small.url)
    await assert.rejects(listen('/v4', small.url), /503/)
    socket.terminate()
    await small.close()
  })

  it('closes with 1001 when the feed stops, and closes a client that says too much', async () => {
    const other = await listenFeed(prices)
    const { socket } = await listen('/v4', other.url)
    const talker = await listen('/v4', other.url)
    talker.socket.send('x'.repeat(2_000))
    assert.equal(await closeCode(talker.socket), 1009)
    const closing = closeCode(socket)
    await other.close()
    assert.equal(await closing, 1001)
  })

  it('cuts a reader that reads nothing, and the others go on', async () => {
    const other = await listenFeed(prices, 0, { maxUnreadBytes: 10_000 })
    const { socket, received } = await listen('/v4', other.url)
    const lazy = await rawUpgrade(other.url)
    const cut = new Promise((resolve) => lazy.once('close', resolve))
    // More than the kernel buffers for a socket that is not read.
    for (let round = 0; round < 40; round += 1) {
      pass(60_000)
      await delay(1)
    }
    lazy.resume()
    await cut
    const count = (await received(1)).length
    pass(250)
    assert.ok((await received(count + 1)).length > count)
    socket.terminate()
    await other.close()
  })
})

describe('the pages', () => {
  it('GET /charts is the running minute of every pair by its index', async () => {
    const { status, body } = await get('/charts')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['time', 'opens', 'highs', 'lows', 'closes', 'indexPrices'])
    assert.equal(body['time'], prices.timeMs())
    const closes = body['closes'] as (number | null)[]
    assert.equal(closes.length, 220)
    assert.equal(closes[4], null)
    assert.equal(closes[1], Number(prices.quote(1).mark) / 1e10)
  })

  it('GET /charts/{pair}/{from}/{to}/{minutes} is history', async () => {
    const toSec = Math.floor(clockMs / 1000)
    const { status, body } = await get(`/charts/1/${toSec - 3_600}/${toSec}/5`)
    assert.equal(status, 200)
    const table = body['table'] as { time: number }[]
    assert.ok(table.length === 12 || table.length === 13)
    assert.deepEqual(Object.keys(table[0]!), ['time', 'open', 'high', 'low', 'close'])
    for (const [at, { time }] of table.entries()) assert.equal(time, table[0]!.time + at * 300_000)
  })

  it('answers 500 candles of every width, also far back', async () => {
    for (const minutes of [1, 5, 15, 30, 60, 240, 1440]) {
      const toSec = Math.floor(clockMs / 1000)
      const { body } = await get(`/charts/58/${toSec - 500 * minutes * 60}/${toSec}/${minutes}`)
      assert.ok((body['table'] as object[]).length >= 500)
    }
  })

  it('GET /charts/prices is the marks asked for', async () => {
    const { status, body } = await get('/charts/prices?from=gTrade&pairs=1,21')
    assert.equal(status, 200)
    assert.deepEqual(body, {
      1: Number(prices.quote(1).mark) / 1e10,
      21: Number(prices.quote(21).mark) / 1e10,
    })
  })

  it('leaves out a pair that is hidden, and breaks the history of one that is broken, until they are mended', async () => {
    const closeOf = async (pair: number) => ((await get('/charts')).body.closes as (number | null)[])[pair]
    const toS = Math.floor(clockMs / 1_000)
    const path = (pair: number) => `/charts/${pair}/${toS - 3_600}/${toS}/60`
    faults.hide('ETH/USD', true)
    faults.breakHistory('BTC/USD', true)
    assert.deepEqual([typeof (await closeOf(0)), await closeOf(1)], ['number', null])
    assert.deepEqual([(await get(path(0))).status, (await get(path(1))).status], [500, 200])
    const { socket, received } = await listen('/v4')
    pass(250)
    const [first] = (await received(1)) as [V4]
    assert.deepEqual([typeof priceIn(first.m, 0), priceIn(first.m, 1)], ['number', undefined])
    socket.terminate()
    faults.hide('ETH/USD', false)
    faults.breakHistory('BTC/USD', false)
    assert.deepEqual([typeof (await closeOf(1)), (await get(path(0))).status], ['number', 200])
    assert.throws(() => faults.hide('NONE/USD', true), /No market is named "NONE\/USD"/)
  })

  it('GET /market-status says which pairs trade', async () => {
    prices.setMarketOpen('SOL/USD', false)
    const { body } = await get('/market-status')
    assert.equal(Object.keys(body).length, PAIRS.length)
    assert.equal(body['0'], true)
    assert.equal(body['33'], false)
    prices.setMarketOpen('SOL/USD', null)
  })

  it('answers bad numbers with 400 and a sentence', async () => {
    const cases: [string, RegExp][] = [
      ['/charts/x/0/1/1', /"pairIndex" must be a whole number/],
      ['/charts/4/0/60/1', /No pair has the index 4/],
      ['/charts/0/-1/60/1', /"from" must be/],
      ['/charts/0/1.5/60/1', /"from" must be/],
      ['/charts/0/0/999999999999/1440', /"to" must be/],
      ['/charts/0/60/0/1', /later than/],
      ['/charts/0/0/60/7', /1, 5, 15, 30, 60, 240, 1440 minutes/],
      ['/charts/0/0/99999999999/1440', /at most 5000/],
      ['/charts/prices?from=gTrade', /"pairs" must be/],
      ['/charts/prices?from=gTrade&pairs=0,,1', /"pairs" must be/],
      ['/charts/prices?from=other&pairs=0', /gTrade/],
      [`/charts/prices?from=gTrade&pairs=${'0,'.repeat(100)}0`, /At most/],
    ]
    for (const [path, sentence] of cases) {
      const { status, body } = await get(path)
      assert.equal(status, 400, path)
      assert.match(String(body['error']), sentence, path)
    }
  })

  it('answers unknown paths with 404 and other methods with 405', async () => {
    for (const path of ['/', '/chart', '/charts/0', '/charts/0/1/2', '/charts/0/1/2/3/4', '/market-status/0']) {
      assert.equal((await get(path)).status, 404, path)
    }
    assert.equal((await fetch(`${feed.url}/charts`, { method: 'POST' })).status, 405)
  })
})

interface V4 {
  readonly m: number[]
  readonly i: number[]
  readonly t: number
}

function priceIn(flat: number[], pairIndex: number): number | undefined {
  for (let at = 0; at < flat.length; at += 2) if (flat[at] === pairIndex) return flat[at + 1]
  return undefined
}

function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve))
}

/** Opens a client that completes the handshake and then never reads. */
async function rawUpgrade(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    'GET /v4 HTTP/1.1\r\nhost: feed\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
  )
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  return socket
}
