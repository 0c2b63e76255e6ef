import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test'
import { startStandInFeed, type StandInFeed } from '@bezel/testkit/standInFeed.ts'
import { until } from '@bezel/testkit/until.ts'
import { openFeed, type Feed, type Heard, type Tick } from './feed.ts'
import { createFeedPages } from './pages.ts'

const P10 = 10n ** 10n

describe('openFeed', () => {
  let upstream: StandInFeed
  let feed: Feed
  let nowMs: number
  let states: string[]

  function begin(silenceMs = 60_000): void {
    feed = openFeed({
      feedUrl: upstream.url,
      pages: createFeedPages(upstream.url),
      now: () => nowMs,
      random: () => 0,
      onConnectionChange: (state) => states.push(state),
      silenceMs,
    })
  }

  async function open(silenceMs?: number): Promise<void> {
    begin(silenceMs)
    await until('connected at both ends', () => upstream.sockets() === 1 && feed.counts().connections === 1)
  }

  beforeEach(async () => {
    nowMs = 1_000
    states = []
    upstream = await startStandInFeed({ '/charts': () => ({ closes: [null, 7], indexPrices: [] }) })
  })
  afterEach(async () => {
    feed.close()
    await upstream.close()
  })

  it('keeps the prices of both versions and tells its listeners, until they had enough', async () => {
    await open()
    const ticks: Tick[] = []
    const stop = feed.onTick((tick) => ticks.push(tick))
    upstream.send('{"m":[0,5],"i":[0,4],"t":999}')
    upstream.send('[0,6]')
    await until('two ticks', () => ticks.length === 2)
    assert.deepEqual(feed.book.get(0), {
      pairIndex: 0,
      mark: 6n * P10,
      index: 6n * P10,
      updatedAtMs: 1_000,
    })
    assert.deepEqual([ticks[0]?.timeMs, ticks[1]?.timeMs, ticks[0]?.receivedAtMs], [999, 1_000, 1_000])
    stop()
    upstream.send('[0,8]')
    await until('the third price', () => feed.book.get(0)?.mark === 8n * P10)
    assert.equal(ticks.length, 2)
  })

  it('tells every sign of life, with all marks and the connection it came over', async () => {
    await open()
    const heard: Heard[] = []
    feed.onHeard((sign) => heard.push(sign))
    upstream.send('[900]')
    upstream.send('{"m":[0,5,0,6],"i":[1,4],"t":950}')
    upstream.send('[960]')
    await until('two signs', () => heard.length === 2)
    upstream.cut()
    await until('connected again', () => feed.counts().connections === 2)
    upstream.send('[0,7]')
    upstream.send('[970]')
    upstream.send('{"m":[],"i":[],"t":980}')
    await until('four signs', () => heard.length === 4)
    assert.deepEqual(heard, [
      {
        timeMs: 950,
        receivedAtMs: 1_000,
        connection: 1,
        marks: [
          [0, 5n * P10],
          [0, 6n * P10],
        ],
      },
      { timeMs: 960, receivedAtMs: 1_000, connection: 1, marks: [] },
      { timeMs: 1_000, receivedAtMs: 1_000, connection: 2, marks: [[0, 7n * P10]] },
      { timeMs: 980, receivedAtMs: 1_000, connection: 2, marks: [] },
    ])
  })

  it('fills in from the snapshot, also when that fails at first', async () => {
    let tries = 0
    upstream.pages['/charts'] = () => {
      tries += 1
      if (tries === 1) throw new Error('not yet')
      return { closes: [null, 7], indexPrices: [null, 6] }
    }
    await open()
    await until('the snapshot', () => feed.pulse() !== undefined)
    assert.deepEqual([feed.book.get(1)?.mark, feed.book.get(1)?.index], [7n * P10, 6n * P10])
    assert.equal(upstream.sockets(), 1)
  })

  it('counts a connection that could not be made as asked, so that nobody waits for it', async () => {
    await upstream.close()
    begin()
    assert.equal(feed.wasAsked(), false)
    await until('the refusal', () => feed.wasAsked())
    assert.deepEqual([feed.pulse(), feed.counts().connections], [undefined, 0])
  })

  it('tells when it was heard and when it had a price, of a connection that has had its snapshot', async () => {
    let isAway = true
    upstream.pages['/charts'] = () => {
      if (isAway) throw new Error('not yet')
      return { closes: [null, 7], indexPrices: [] }
    }
    await open()
    upstream.send('[0,5]')
    await until('a price', () => feed.book.get(0))
    await until('the refusal of the snapshot', () => feed.wasAsked())
    assert.equal(feed.pulse(), undefined, 'no snapshot yet')
    isAway = false
    await until('the snapshot', () => feed.pulse() !== undefined)
    assert.deepEqual(feed.pulse(), { heardAtMs: 1_000, pricedAtMs: 1_000 })
    nowMs = 2_000
    for (const text of ['[1999]', '{"m":[],"i":[],"t":1999}', '[0,"x"]']) {
      const { frames } = feed.counts()
      upstream.send(text)
      await until('a frame', () => feed.counts().frames > frames)
      assert.deepEqual(feed.pulse(), { heardAtMs: 2_000, pricedAtMs: 1_000 }, `${text} has no price`)
    }

    isAway = true
    upstream.cut()
    await until('connected again', () => feed.counts().connections === 2)
    nowMs = 3_000
    upstream.send('[0,6]')
    await until('a price', () => feed.book.get(0)?.mark === 6n * P10)
    assert.deepEqual(feed.pulse(), { heardAtMs: 2_000, pricedAtMs: 1_000 }, 'what was missed is not known yet')
    isAway = false
    await until('the second snapshot', () => feed.pulse()?.heardAtMs === 3_000)
    assert.equal(feed.pulse()?.pricedAtMs, 3_000)
  })

  it('ignores and counts garbage, and goes on', async () => {
    await open()
    const garbage = ['nonsense', '{}', '[]', '[1,2,3]', '{"m":1}', '\0', '[[[[', Buffer.from('[0,5]')]
    for (const message of garbage) upstream.send(message)
    upstream.send('[3,9,"x",1]')
    await until('the good one', () => feed.book.get(3)?.mark === 9n * P10)
    assert.deepEqual(feed.counts(), { connections: 1, frames: 1, ignored: garbage.length + 1 })
    assert.equal(feed.book.get(0), undefined)
    assert.deepEqual(states, ['connected'])
  })

  it('comes back after a cut, and after a frame larger than any frame', async () => {
    await open()
    upstream.send('[0,5]')
    await until('a price', () => feed.book.get(0))
    upstream.cut()
    await until('connected again', () => feed.counts().connections === 2)
    upstream.send(`[0,6,${' '.repeat(1_100_000)}1,2]`)
    await until('connected a third time', () => feed.counts().connections === 3)
    upstream.send('[0,7]')
    await until('the new price', () => feed.book.get(0)?.mark === 7n * P10)
    assert.deepEqual(states, ['connected', 'lost', 'connected'])
  })

  describe('with timers that the test moves on', () => {
    // All tests share one mock clock: a socket that ends late clears its timer, which must belong to the same clock.
    before(() => mock.timers.enable({ apis: ['setTimeout'] }))
    after(() => mock.timers.reset())

    it('gives up a connection on which nothing comes, and lives on heartbeats alone', async () => {
      await open(200)
      for (let beats = 1; beats <= 20; beats += 1) {
        upstream.send('[1]')
        await until('a heartbeat', () => feed.counts().frames === beats)
        mock.timers.tick(199)
      }
      assert.equal(feed.counts().connections, 1)
      mock.timers.tick(1)
      await until('a new connection', () => (mock.timers.tick(1_000), feed.counts().connections > 1))
    })

    it('does not take garbage for a sign of life', async () => {
      await open(200)
      for (let ignored = 1; ignored <= 3; ignored += 1) {
        upstream.send('garbage')
        await until('garbage', () => feed.counts().ignored === ignored)
        mock.timers.tick(60)
      }
      assert.equal(feed.counts().connections, 1)
      mock.timers.tick(20)
      await until('a new connection', () => (mock.timers.tick(1_000), feed.counts().connections > 1))
    })
  })

  it('does not come back once it is closed', async () => {
    await open()
    const closed = feed
    closed.close()
    await until('gone', () => upstream.sockets() === 0)
    // A second feed serves as the clock: once it has reconnected, the closed one would have too.
    await open()
    upstream.cut()
    await until('the other is back', () => feed.counts().connections === 2)
    assert.deepEqual([upstream.sockets(), closed.counts().connections], [1, 1])
  })
})
