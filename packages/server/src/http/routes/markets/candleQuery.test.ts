import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError, CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import { candleQuery } from './candleQuery.ts'

const NOW_MS = Date.UTC(2026, 10, 14, 12, 34, 56, 789)
const HOUR_MS = 3_600_000

function issuesOf(query: Record<string, unknown>): readonly string[] {
  try {
    candleQuery(query, NOW_MS)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'VALIDATION_ERROR')
    return (error.details as { issues: { path: string }[] }).issues.map(({ path }) => path)
  }
  return []
}

describe('the query of candles', () => {
  it('is the last 500 hours by default', () => {
    assert.deepEqual(candleQuery({}, NOW_MS), { interval: '1h', fromMs: NOW_MS - 500 * HOUR_MS, toMs: NOW_MS })
  })

  it('reaches back 500 intervals from its end, and never into the future', () => {
    const toMs = NOW_MS - 86_400_000
    assert.deepEqual(candleQuery({ interval: '5m', to: String(toMs) }, NOW_MS), {
      interval: '5m',
      fromMs: toMs - 500 * 300_000,
      toMs,
    })
    assert.equal(candleQuery({ interval: '1d', to: '5' }, NOW_MS).fromMs, 0)
    assert.equal(
      candleQuery({ from: '0', interval: '1d', to: String(NOW_MS * 2) }, 4_000 * 86_400_000).toMs,
      4_000 * 86_400_000,
    )
  })

  it('takes 5,000 candles and not one more, at every width', () => {
    for (const interval of Object.keys(CANDLE_INTERVALS) as CandleInterval[]) {
      const widthMs = CANDLE_INTERVALS[interval]
      const toMs = NOW_MS - (NOW_MS % widthMs)
      const query = (from: number) => ({ interval, from: String(from), to: String(toMs) })
      assert.deepEqual(issuesOf(query(toMs - 4_999 * widthMs)), [], interval)
      assert.deepEqual(issuesOf(query(toMs - 4_999 * widthMs - 1)), [], 'the one that begins there began before')
      assert.deepEqual(issuesOf(query(toMs - 5_000 * widthMs)), ['query.from'], interval)
    }
  })

  it('names what is wrong', () => {
    for (const from of ['', '-1', '1.5', '1e3', '01', ' 1', 'NaN', '99999999999999999', ['1', '2'], 'null']) {
      assert.deepEqual(issuesOf({ from }), ['query.from'], String(from))
      assert.deepEqual(issuesOf({ to: from }), ['query.to'], String(from))
    }
    for (const interval of ['', '2m', '1H', '60', '__proto__', ['1m', '1m']]) {
      assert.deepEqual(issuesOf({ interval }), ['query.interval'], String(interval))
    }
    assert.deepEqual(issuesOf({ limit: '5', From: '1' }), ['query.limit', 'query.From'])
    assert.deepEqual(issuesOf({ from: '2', to: '1' }), ['query.from'])
    assert.deepEqual(issuesOf({ from: String(NOW_MS + 1) }), ['query.from'])
  })
})
