import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ageWords, clockWords, serviceWords } from './bannerWords.ts'

const down = { state: 'down', sinceMs: 50_000, staleSinceMs: null, message: null } as const

describe('serviceWords', () => {
  it('says that the page reconnects when the service is away', () => {
    assert.match(serviceWords(down), /does not answer.*reconnects by itself/)
  })

  it('passes the sentence of the connection on', () => {
    const late = { state: 'live', sinceMs: 0, staleSinceMs: 90_000, message: 'The feed is late.' } as const
    assert.match(serviceWords(late), /^The feed is late\. Do not rely on prices/)
  })
})

describe('ageWords', () => {
  it('counts from the last message, else from the end of the connection', () => {
    assert.equal(ageWords({ ...down, staleSinceMs: 40_000 }, 100_000), 'What you see is 1 min old.')
    assert.equal(ageWords(down, 100_000), 'What you see is 50 s old.')
  })

  it('is never below zero', () => {
    assert.equal(ageWords(down, 1_000), 'What you see is 0 s old.')
  })
})

describe('clockWords', () => {
  it('mentions a clock that is off by more than ten seconds', () => {
    assert.equal(clockWords(9_999), null)
    assert.match(clockWords(61_000) ?? '', /1 min ahead of/)
    assert.match(clockWords(-61_000) ?? '', /1 min behind/)
  })
})
