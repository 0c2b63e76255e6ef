import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONTRACT_ERRORS, ERRORS, ORDER_REASONS } from '@bezel/protocol'
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

  it('tells each code under a heading of its own, with its cause, its remedy and its details', () => {
    for (const [code, { when, remedy, status }] of Object.entries(ERRORS)) {
      const [, section = ''] = page.split(`\n### ${code}\n`)
      const [own = ''] = section.split('\n### ')
      assert.ok(own.includes(`**Cause.** ${when}\n`) && own.includes(`**Remedy.** ${remedy}\n`), code)
      assert.ok(own.includes(`**HTTP ${status}** `), code)
      for (const field of Object.keys(ERROR_DETAILS[code as keyof typeof ERRORS] ?? {})) {
        assert.match(own, new RegExp(`^\\| \`${field}\` \\|`, 'm'), code)
      }
    }
  })

  it('tells each error of the contracts and each reason of an order in a row of its own, with cause and remedy', () => {
    for (const [heading, names, cells] of [
      ['Contract errors', Object.keys(CONTRACT_ERRORS), 4],
      ['Order reasons', ORDER_REASONS, 3],
    ] as const) {
      const [, section = ''] = page.split(`\n## ${heading}\n`)
      const own = section
        .split('\n## ')[0]!
        .split('\n')
        .filter((line) => line.startsWith('| `'))
      assert.deepEqual(own.map((row) => /`(\w+)`/.exec(row)?.[1]).toSorted(), names.toSorted())
      for (const row of own) {
        const texts = row
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim())
        assert.ok(texts.length === cells && texts.every((text) => text !== ''), row)
      }
    }
  })
})
