import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { marketStatus, QUIET_MS, type StatusInput } from './marketStatus.ts'

const NOW_MS = Date.UTC(2026, 10, 16, 12)

const OPEN: StatusInput = { isOpen: true, pricedAtMs: NOW_MS - 500, opensAtMs: null, staleSinceMs: null, nowMs: NOW_MS }

describe('the status of a market', () => {
  it('says nothing more about an open market with a fresh price', () => {
    assert.deepEqual(marketStatus(OPEN), { kind: 'open', label: 'Open', detail: '' })
  })

  it('tells how old a quiet price is', () => {
    assert.equal(marketStatus({ ...OPEN, pricedAtMs: NOW_MS - QUIET_MS + 1 }).kind, 'open')
    const quiet = marketStatus({ ...OPEN, pricedAtMs: NOW_MS - 180_000 })
    assert.equal(quiet.kind, 'quiet')
    assert.match(quiet.detail, /3 min ago/)
    assert.equal(marketStatus({ ...OPEN, pricedAtMs: null }).kind, 'waiting')
  })

  it('tells when a closed market opens, and nothing when nobody knows', () => {
    const closed = { ...OPEN, isOpen: false }
    assert.match(marketStatus({ ...closed, opensAtMs: NOW_MS + 7_200_000 }).detail, /begin .* in 2 h\. Limit and stop/)
    assert.match(marketStatus(closed).detail, /^Limit and stop/)
  })

  it('puts a lost connection before everything else', () => {
    assert.equal(marketStatus({ ...OPEN, isOpen: false, staleSinceMs: NOW_MS - 1_000 }).kind, 'stale')
  })
})
