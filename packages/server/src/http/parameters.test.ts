import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import { numberQuery, pageOf, pageQuery, type CursorFormat } from './parameters.ts'
import fc from 'fast-check'

const FORMAT: CursorFormat<number> = {
  toText: (n) => `n${n}`,
  fromText: (text) => (/^n(0|[1-9]\d{0,14})$/.test(text) ? Number(text.slice(1)) : undefined),
}

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

  it('are listed to whoever sends another one', () => {
    assert.throws(() => numberQuery({ levels: '1' }, RANGES), {
      code: 'VALIDATION_ERROR',
      message: 'query.levels is not a parameter; the parameters are after, limit.',
    })
    assert.throws(() => numberQuery({ limit: '0' }, RANGES), {
      message: 'query.limit must be a whole number from 1 to 500.',
    })
    assert.deepEqual(issuesOf({ ['k'.repeat(5_000)]: '1' }), [`query["${'k'.repeat(40)}..."]`])
  })
})

describe('the query of a paged list', () => {
  it('is 50 from the start when it says nothing', () => {
    assert.deepEqual(pageQuery({}, FORMAT), { cursor: undefined, limit: 50 })
  })

  it('takes a limit from 1 to 500', () => {
    for (const limit of [1, 50, 499, 500]) assert.equal(pageQuery({ limit: String(limit) }, FORMAT).limit, limit)
    const refused = ['0', '501', '-1', '1.5', '1e2', '01', ' 1', '', 'all', '٣', ['1', '2'], '9'.repeat(400)]
    for (const limit of refused) assert.deepEqual(refusedPaths({ limit }), ['query.limit'], String(limit))
  })

  it('names everything that is wrong, also parameters that there are none of', () => {
    assert.deepEqual(refusedPaths({ limit: '0', cursor: '%', page: '2' }), [
      'query.page',
      'query.limit',
      'query.cursor',
    ])
  })

  it('takes back every cursor that was given out', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 500 }), (last, limit) => {
        const items = Array.from({ length: limit + 1 }, (_, at) => last + limit - 1 - at)
        const { nextCursor } = pageOf(items, limit, (item) => item, FORMAT)
        assert.deepEqual(pageQuery({ cursor: nextCursor }, FORMAT).cursor, last)
      }),
    )
  })

  it('takes nothing else for a cursor', () => {
    const refused = [
      '',
      'n5',
      'bjU=',
      'bjV',
      ' bjU',
      Buffer.from('n05').toString('base64url'),
      ['bjU'],
      'A'.repeat(200),
    ]
    assert.equal(pageQuery({ cursor: 'bjU' }, FORMAT).cursor, 5)
    for (const cursor of refused) assert.deepEqual(refusedPaths({ cursor }), ['query.cursor'], String(cursor))
    fc.assert(
      fc.property(fc.string(), (cursor) => {
        const paths = refusedPaths({ cursor })
        assert.ok(paths.length === 1 || Buffer.from(cursor, 'base64url').toString().startsWith('n'))
      }),
    )
  })
})

describe('a page', () => {
  it('says that there is a next one only when there is', () => {
    assert.deepEqual(
      pageOf([3, 2], 2, (item) => item, FORMAT),
      { items: [3, 2], nextCursor: null },
    )
    assert.deepEqual(pageOf([3, 2, 1], 2, (item) => item, FORMAT).items, [3, 2])
    assert.deepEqual(
      pageOf([], 2, (item: number) => item, FORMAT),
      { items: [], nextCursor: null },
    )
  })
})

/** Returns the paths of the issues for which a query is refused. */
function refusedPaths(query: Record<string, unknown>): string[] {
  try {
    pageQuery(query, FORMAT)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'VALIDATION_ERROR')
    const { issues } = error.details as { issues: { path: string }[] }
    return issues.map(({ path }) => path)
  }
  return []
}
