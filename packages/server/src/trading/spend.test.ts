import assert from 'node:assert/strict'
import { it } from 'node:test'
import { utcDayOf } from './spend.ts'

it('a day of spend begins at midnight UTC', () => {
  const midnight = Date.UTC(2026, 2, 29)
  const day = utcDayOf(midnight)
  assert.equal(utcDayOf(midnight - 1), day - 1)
  assert.equal(utcDayOf(midnight + 86_399_999), day)
  assert.equal(utcDayOf(midnight + 86_400_000), day + 1)
  assert.equal(utcDayOf(0), 0)
})
