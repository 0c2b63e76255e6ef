import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTable, type Column } from './formatTable.ts'
import { styleFor } from './text.ts'

interface Row {
  readonly name: string
  readonly size: string
  readonly note: string
}

const ROWS: readonly Row[] = [
  { name: 'BTC/USD', size: '0.5', note: 'first' },
  { name: 'A', size: '12000', note: '' },
]

const COLUMNS: readonly Column<Row>[] = [
  { title: 'MARKET', cell: ({ name }) => name, paint: (_, style) => style.good },
  { title: 'SIZE', cell: ({ size }) => size, isNumber: true, drop: 1 },
  { title: 'NOTE', cell: ({ note }) => note, drop: 2 },
]

const plain = styleFor(false, {})

describe('formatTable', () => {
  it('aligns words left and numbers right, without spaces at the end', () => {
    assert.deepEqual(formatTable(ROWS, COLUMNS, { width: undefined, style: plain }), [
      'MARKET    SIZE  NOTE',
      'BTC/USD    0.5  first',
      'A        12000',
    ])
  })

  it('leaves columns out where they do not fit, and cuts nothing', () => {
    assert.deepEqual(formatTable(ROWS, COLUMNS, { width: 20, style: plain }), [
      'MARKET    SIZE',
      'BTC/USD    0.5',
      'A        12000',
    ])
    assert.deepEqual(formatTable(ROWS, COLUMNS, { width: 3, style: plain }), ['MARKET', 'BTC/USD', 'A'])
  })

  it('paints without moving anything', () => {
    const style = styleFor(true, {})
    const lines = formatTable(ROWS, COLUMNS, { width: 80, style })
    assert.equal(lines[1], '\u001b[32mBTC/USD\u001b[0m    0.5  first')
    assert.equal(lines[2], '\u001b[32mA      \u001b[0m  12000')
  })

  it('lets no control character of others through', () => {
    const [, line] = formatTable([{ name: 'x\u001b[2Jy\n', size: '1', note: '\u202e' }], COLUMNS, {
      width: undefined,
      style: plain,
    })
    assert.equal(line, 'x [2Jy      1')
  })
})

describe('styleFor', () => {
  it('paints on terminals alone, and not against the user', () => {
    assert.notEqual(styleFor(true, {}).good('x'), 'x')
    assert.notEqual(styleFor(true, { NO_COLOR: '' }).good('x'), 'x')
    for (const [isTerminal, env] of [
      [false, {}],
      [true, { NO_COLOR: '1' }],
      [true, { TERM: 'dumb' }],
    ] as const) {
      assert.equal(styleFor(isTerminal, env).good('x'), 'x')
    }
  })
})
