import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chainWords, clockWords, feedWords, readRateLimit, readReadiness } from './readiness.ts'

describe('chainWords', () => {
  it('is brief about a chain that is ready', () => {
    assert.deepEqual(chainWords({ ready: true, relayer: true }), { tone: 'good', label: 'ready', sentences: [] })
  })

  it('says what a reason means to a trader, also one that it does not know', () => {
    const stale = chainWords({ ready: false, reason: 'feed_stale', relayer: false })
    assert.equal(stale.tone, 'bad')
    assert.match(stale.sentences[0] ?? '', /price feed is silent/)
    assert.match(chainWords({ ready: false, reason: 'new_thing', relayer: false }).sentences[0] ?? '', /new_thing/)
    assert.match(chainWords({ ready: false, relayer: false }).sentences[0] ?? '', /not ready/)
  })

  it('tells pauses, changed contracts, missing markets and the relayer', () => {
    const paused = chainWords({ ready: true, relayer: false, writesPaused: 'Maintenance until 14:00 UTC' })
    assert.deepEqual([paused.tone, paused.label], ['bad', 'paused'])
    const markets = ['A/USD', 'B/USD', 'C/USD', 'D/USD', 'E/USD', 'F/USD', 'G/USD']
    const warned = chainWords({ ready: true, relayer: false, marketsLeftOut: markets, relayerWarning: 'Gas is low.' })
    assert.equal(warned.tone, 'warn')
    assert.match(warned.sentences[0] ?? '', /E\/USD and 2 more\.$/)
    assert.equal(warned.sentences[1], 'Gas is low.')
  })
})

describe('readReadiness', () => {
  it('takes an answer and nothing else', () => {
    assert.deepEqual(readReadiness({ ready: true, chains: { base: { ready: true, relayer: true } } }), {
      base: { ready: true, relayer: true },
    })
    for (const body of [null, undefined, 'x', {}, { chains: null }]) assert.equal(readReadiness(body), null)
  })
})

describe('feedWords', () => {
  const nowMs = 1_800_000_000_000

  it('is good while any price is fresh, and counts the quiet markets', () => {
    assert.deepEqual(feedWords([nowMs, nowMs - 900], nowMs), {
      tone: 'good',
      sentence: 'Prices of 2 markets are coming in.',
    })
    assert.match(feedWords([nowMs, nowMs - 90_000], nowMs).sentence, /1 market has not moved/)
    assert.match(feedWords([nowMs, 0, 0], nowMs).sentence, /2 markets have not moved/)
  })

  it('is bad when the newest price is old or there is none', () => {
    assert.deepEqual(feedWords([nowMs - 45_000], nowMs).tone, 'bad')
    assert.match(feedWords([nowMs - 45_000], nowMs).sentence, /45 s old/)
    assert.equal(feedWords([], nowMs).tone, 'bad')
  })

  it('does not mind a price from the future', () => {
    assert.equal(feedWords([nowMs + 500], nowMs).tone, 'good')
  })
})

describe('readRateLimit', () => {
  it('reads the headers, and knows when they are not there', () => {
    const headers = new Headers({ 'ratelimit-limit': '600', 'ratelimit-remaining': '598', 'ratelimit-reset': '17' })
    assert.deepEqual(readRateLimit(headers), { limit: 600, remaining: 598, resetSeconds: 17 })
    assert.equal(readRateLimit(new Headers()), null)
    assert.equal(readRateLimit(new Headers({ 'ratelimit-limit': '600' })), null)
  })
})

it('mentions a clock only when it matters', () => {
  assert.equal(clockWords(900), null)
  assert.match(clockWords(61_000) ?? '', /1 min ahead/)
  assert.match(clockWords(-45_000) ?? '', /45 s behind/)
})
