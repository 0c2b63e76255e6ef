import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ERRORS } from '@bezel/protocol'
import { ERROR_DETAILS, errorPage } from './errorPage.ts'

describe('the page of errors', () => {
  const page = errorPage()
  const rows = page.split('\n').filter((line) => /^\| \d{3} /.test(line))

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

  it('has three cells in each row', () => {
    for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 5, row)
  })

  it('tells each code under a heading of its own, with when it comes and what its details are', () => {
    for (const [code, { when, status }] of Object.entries(ERRORS)) {
      const [, section = ''] = page.split(`\n### ${code}\n`)
      const [own = ''] = section.split('\n### ')
      assert.ok(own.includes(when) && own.includes(`**HTTP ${status}** `), code)
      for (const field of Object.keys(ERROR_DETAILS[code as keyof typeof ERRORS] ?? {})) {
        assert.match(own, new RegExp(`^\\| \`${field}\` \\|`, 'm'), code)
      }
    }
  })
})
