import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { marketStatus, QUIET_MS, type StatusInput } from './marketStatus.ts'

const NOW_MS = Date.UTC(2026, 10, 16, 12)

const OPEN: StatusInput = { isOpen: true, pricedAtMs: NOW_MS - 500, group: 'stocks', staleSinceMs: null, nowMs: NOW_MS }

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

  it('tells when a closed market opens, over holidays and half days, and nothing when nobody knows', () => {
    const closedAt = (time: string): string => marketStatus({ ...OPEN, isOpen: false, nowMs: Date.parse(time) }).detail
    assert.match(closedAt('2026-11-16T12:35:00Z'), /^It opens .* in 2 h\. Limit and stop/)
    assert.match(closedAt('2026-11-25T14:35:00-05:00'), /^Limit and stop/, 'closed by the operator')
    assert.match(closedAt('2026-11-26T09:35:00-05:00'), /^It opens .* in 24 h\./, 'Thanksgiving')
    assert.match(closedAt('2026-11-27T13:35:00-05:00'), /^It opens .* in 2 d\./, 'the half day after it')
  })

  it('puts a lost connection before everything else', () => {
    assert.equal(marketStatus({ ...OPEN, isOpen: false, staleSinceMs: NOW_MS - 1_000 }).kind, 'stale')
  })
})
