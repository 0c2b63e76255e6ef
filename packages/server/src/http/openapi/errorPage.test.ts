import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ERRORS } from '@bezel/protocol'
import { errorPage } from './errorPage.ts'

describe('the page of errors', () => {
  const rows = errorPage()
    .split('\n')
    .filter((line) => /^\| \d{3} /.test(line))

  it('has one row for each code, ordered by status', () => {
    const codes = rows.map((row) => /`([A-Z_]+)`/.exec(row)?.[1])
    assert.deepEqual(new Set(codes), new Set(Object.keys(ERRORS)))
    assert.equal(codes.length, Object.keys(ERRORS).length)
    const statuses = rows.map((row) => Number(row.slice(2, 5)))
    assert.deepEqual(
      statuses,
      statuses.toSorted((a, b) => a - b),
    )
  })

  it('has five cells in each row', () => {
    for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 7, row)
  })
})
