import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createConnectionWatch } from './connectionWatch.ts'

function createWatched() {
  const time = { ms: 1_000_000 }
  const watch = createConnectionWatch(() => time.ms)
  const pass = (ms: number): void => {
    time.ms += ms
    watch.look()
  }
  return { time, watch, pass, now: () => watch.connection.value }
}

const waiting = { state: 'waiting', reason: 'closed with 1006', retryInMs: 1_000, attempt: 1 } as const

describe('the connection of the page', () => {
  it('is live once every socket is open', () => {
    const { watch, now } = createWatched()
    watch.status('public 0', { state: 'connecting', attempt: 1 })
    assert.equal(now().state, 'connecting')
    watch.status('public 0', { state: 'open' })
    watch.status('account 0', { state: 'connecting', attempt: 1 })
    assert.equal(now().state, 'connecting')
    watch.status('account 0', { state: 'open' })
    assert.deepEqual([now().state, now().message], ['live', null])
  })

  it('is down from the first loss until all is back, and says since when', () => {
    const { watch, now, pass, time } = createWatched()
    watch.status('public 0', { state: 'open' })
    watch.heard()
    const heardMs = time.ms
    pass(2_000)
    watch.status('public 0', waiting)
    const sinceMs = time.ms
    assert.deepEqual([now().state, now().sinceMs, now().staleSinceMs], ['down', sinceMs, heardMs])
    assert.match(now().message!, /connects again by itself/)
    pass(5_000)
    watch.status('public 0', { state: 'connecting', attempt: 2 })
    assert.deepEqual([now().state, now().sinceMs], ['down', sinceMs])
    watch.status('public 0', { state: 'open' })
    assert.deepEqual([now().state, now().staleSinceMs], ['live', null])
  })

  it('is stale when prices stop while the socket is open, and fresh with the next one', () => {
    const { watch, now, pass, time } = createWatched()
    watch.status('public 0', { state: 'open' })
    watch.heard()
    const heardMs = time.ms
    pass(14_000)
    assert.equal(now().staleSinceMs, null)
    pass(2_000)
    assert.deepEqual([now().state, now().staleSinceMs], ['live', heardMs])
    assert.match(now().message!, /price feed/)
    watch.heard()
    assert.deepEqual([now().staleSinceMs, now().message], [null, null])
  })

  it('does not mind a socket that was closed on purpose', () => {
    const { watch, now } = createWatched()
    watch.status('public 0', { state: 'open' })
    watch.status('account 0', waiting)
    assert.equal(now().state, 'down')
    watch.forget('account ')
    assert.equal(now().state, 'live')
    watch.status('account 0', { state: 'closed', reason: 'nobody listens any more' })
    assert.equal(now().state, 'live')
  })
})
