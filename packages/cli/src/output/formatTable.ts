import { type Style, plainText } from './text.ts'
import type { Output } from './createOutput.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  /** Aligns the column to the right, so that digits stand below each other. */
  readonly isNumber?: boolean
  /**
   * Order in which columns are left out when the terminal is too narrow: the highest first. A column without it always
   * stays.
   */
  readonly drop?: number
  readonly paint?: (row: Row, style: Style) => (text: string) => string
}

interface TableShape {
  /** Width of the terminal in characters; `undefined` when the output has no width. */
  readonly width: number | undefined
  readonly style: Style
}

const GAP = '  '

interface Measured<Row> {
  readonly column: Column<Row>
  readonly cells: readonly string[]
  readonly width: number
}

/**
 * Formats an aligned table, titles first. Cells are never cut; columns with `drop` are left out until the rest fits.
 */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], shape: TableShape): string[] {
  const measured = fit(
    columns.map((column) => measure(column, rows)),
    shape.width,
  )
  const head = line(measured.map(({ column, width }) => pad(column.title, width, column.isNumber)))
  const body = rows.map((row, place) =>
    line(
      measured.map(({ column, cells, width }) => {
        const text = pad(cells[place]!, width, column.isNumber)
        return column.paint === undefined ? text : column.paint(row, shape.style)(text)
      }),
    ),
  )
  return [shape.style.dim(head), ...body]
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const cells = rows.map((row) => plainText(column.cell(row)))
  const width = cells.reduce((widest, cell) => Math.max(widest, cell.length), column.title.length)
  return { column, cells, width }
}

function fit<Row>(measured: readonly Measured<Row>[], width: number | undefined): readonly Measured<Row>[] {
  const total = measured.reduce((sum, entry) => sum + entry.width + GAP.length, -GAP.length)
  const drops = measured.map(({ column }) => column.drop ?? 0)
  const highest = Math.max(...drops)
  if (width === undefined || total <= width || highest === 0) return measured
  const place = drops.lastIndexOf(highest)
  return fit(measured.toSpliced(place, 1), width)
}

function pad(text: string, width: number, isNumber = false): string {
  return isNumber ? text.padStart(width) : text.padEnd(width)
}

function line(cells: readonly string[]): string {
  return cells.join(GAP).trimEnd()
}

/** Formats one thing, a line for each field. Fields without a value are left out. */
export function formatFields(
  fields: readonly (readonly [string, string | null | undefined])[],
  style: Style,
): string[] {
  const there = fields.filter((field): field is readonly [string, string] => typeof field[1] === 'string')
  const width = Math.max(0, ...there.map(([name]) => name.length))
  return there.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${plainText(value)}`)
}

interface ListOptions<Row> {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  /** Sentence for an empty list. */
  readonly none: string
  /** Account that the list belongs to. */
  readonly account: string
}

/** Prints a list: its JSON, a table, or the sentence `none` when it is empty. The account is named in any case. */
export function showList<Row>(output: Output, { rows, columns, none, account }: ListOptions<Row>): void {
  const owner = plainText(`Account ${account}`)
  output.answer(rows, () => [...(rows.length === 0 ? [none] : formatTable(rows, columns, output)), '', owner])
  // In JSON the records name their trader, but an empty list has none.
  if (output.isJson) output.note(owner)
}
