import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatFields, formatTable, type Column } from './formatTable.ts'
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

  it('tells columns below their row where they do not fit, and cuts nothing', () => {
    assert.deepEqual(formatTable(ROWS, COLUMNS, { width: 20, style: plain }), [
      'MARKET    SIZE',
      'BTC/USD    0.5',
      '  note first',
      'A        12000',
    ])
    assert.deepEqual(formatTable(ROWS, COLUMNS, { width: 13, style: plain }), [
      'MARKET',
      'BTC/USD',
      '  size 0.5',
      '  note first',
      'A',
      '  size 12000',
    ])
  })

  it('paints without moving anything', () => {
    const style = styleFor(true, {})
    const lines = formatTable(ROWS, COLUMNS, { width: 80, style })
    assert.equal(lines[1], '\u001b[32mBTC/USD\u001b[0m    0.5  first')
    assert.equal(lines[2], '\u001b[32mA      \u001b[0m  12000')
    const [, , below] = formatTable(ROWS, COLUMNS, { width: 20, style })
    assert.equal(below, '  \u001b[2mnote\u001b[0m first')
  })

  it('lets no control character of others through', () => {
    const [, line] = formatTable([{ name: 'x\u001b[2Jy\n', size: '1', note: '\u202e' }], COLUMNS, {
      width: undefined,
      style: plain,
    })
    assert.equal(line, 'x [2Jy      1')
  })
})

/** Cells as tables have them: ids, amounts with their unit, addresses, and sentences. */
const cell = fc.oneof(
  fc.nat().map(String),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => `${value.toFixed(6)} USDC`),
  fc.stringMatching(/^0x[0-9a-f]{40}$/),
  fc.array(fc.stringMatching(/^[m-z]{1,9}$/), { maxLength: 30 }).map((words) => words.join(' ')),
)

/** First cells, which are never sentences. */
const firstCell = fc.oneof(fc.nat().map(String), fc.stringMatching(/^0x[0-9a-f]{40}$/))

const tables = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.record({
    rows: fc.array(
      fc
        .tuple(firstCell, fc.array(cell, { minLength: count - 1, maxLength: count - 1 }))
        .map(([first, rest]) => [first, ...rest]),
      { minLength: 1, maxLength: 4 },
    ),
    columns: fc.array(fc.record({ isNumber: fc.boolean(), drop: fc.nat({ max: 5 }) }), {
      minLength: count,
      maxLength: count,
    }),
    width: fc.integer({ min: 40, max: 200 }),
  }),
)

/** Titles that are no words of cells: those have letters after L only. */
const titleOf = (place: number): string => `T${'ABCDEFGHIJKL'[place]}`

describe('every table, in every terminal from 40 to 200 columns', () => {
  it('has each cell whole, below its title or beside it, and no line that is too long unless it is one word', () => {
    fc.assert(
      fc.property(tables, ({ rows, columns, width }) => {
        const made = columns.map((column, place): Column<readonly string[]> => ({
          ...column,
          title: titleOf(place),
          cell: (row) => row[place]!,
        }))
        const lines = formatTable(rows, made, { width, style: plain })
        for (const line of lines) assert.ok(line.length <= width || !line.trim().includes(' '), line)
        const wide = formatTable(rows, made, { width: undefined, style: plain })
        if (wide.every((line) => line.length <= width)) assert.deepEqual(lines, wide)
        // Everything that the wide table says is there, and nothing else: the words of all rows, without the titles.
        const said = (text: readonly string[]): string[] =>
          text
            .slice(1)
            .flatMap((line) => line.split(/\s+/))
            .filter((word) => word !== '' && !/^t[a-l]$/.test(word))
            .toSorted()
        assert.deepEqual(said(lines), said(wide))
      }),
    )
  })
})

describe('formatFields', () => {
  it('leaves out what has no value, and goes on below a value that is too long', () => {
    const fields = [
      ['Order', '7 open'],
      ['Price', null],
      ['Missing', 'allowance: the trader lets the Diamond take too little of it.'],
    ] as const
    assert.deepEqual(formatFields(fields, { width: 40, style: plain }), [
      'Order    7 open',
      'Missing  allowance: the trader lets the',
      '         Diamond take too little of it.',
    ])
    assert.equal(formatFields(fields, { width: undefined, style: plain }).length, 2)
  })

  it('spells the commands of values as the user types them, and breaks none of them', () => {
    const typing = { program: 'bezel', options: ['--as trader-2'] }
    const lines = formatFields([['Missing', 'allowance: `bezel approve USDC 5`']], { width: 40, style: plain, typing })
    assert.deepEqual(lines, ['Missing  allowance:', '         bezel approve USDC 5 --as trader-2'])
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
