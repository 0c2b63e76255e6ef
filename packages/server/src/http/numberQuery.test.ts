import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import { numberQuery } from './numberQuery.ts'

const RANGES = {
  after: { min: 0, max: Number.MAX_SAFE_INTEGER, byDefault: 0 },
  limit: { min: 1, max: 500, byDefault: 100 },
}

function issuesOf(query: Record<string, unknown>): readonly string[] {
  try {
    numberQuery(query, RANGES)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'VALIDATION_ERROR')
    const { issues } = error.details as { issues: { path: string }[] }
    return issues.map(({ path }) => path)
  }
  return []
}

describe('whole numbers of a query', () => {
  it('are read, or are what they are by default', () => {
    assert.deepEqual(numberQuery({}, RANGES), { after: 0, limit: 100 })
    assert.deepEqual(numberQuery({ limit: '500' }, RANGES), { after: 0, limit: 500 })
    const largest = String(Number.MAX_SAFE_INTEGER)
    assert.deepEqual(numberQuery({ after: largest, limit: '1' }, RANGES), { after: Number.MAX_SAFE_INTEGER, limit: 1 })
  })

  it('are refused by name when they are anything else', () => {
    for (const limit of [
      '',
      '0',
      '501',
      '-1',
      '+1',
      '01',
      '1.0',
      '1e2',
      ' 1',
      '0x10',
      '٣',
      '9'.repeat(400),
      ['1', '2'],
    ]) {
      assert.deepEqual(issuesOf({ limit }), ['query.limit'], String(limit))
    }
    assert.deepEqual(issuesOf({ after: '9007199254740992' }), ['query.after'])
  })

  it('come alone', () => {
    assert.deepEqual(issuesOf({ levels: '1' }), ['query.levels'])
    assert.deepEqual(issuesOf({ constructor: '1', limit: 'x' }), ['query.constructor', 'query.limit'])
  })
})
