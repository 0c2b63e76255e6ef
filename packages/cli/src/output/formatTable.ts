import type { Style } from './style.ts'
import { plainText } from './plainText.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  /** Numbers stand right, so that their digits stand below each other. */
  readonly isNumber?: boolean
  /** Left out when the terminal is too narrow; the highest goes first. Without it, it stays. */
  readonly drop?: number
  readonly paint?: (row: Row, style: Style) => (text: string) => string
}

export interface TableShape {
  /** Columns of the terminal; `undefined` when nobody is limited by one. */
  readonly width: number | undefined
  readonly style: Style
}

const GAP = '  '

interface Measured<Row> {
  readonly column: Column<Row>
  readonly cells: readonly string[]
  readonly width: number
}

/** Lines of an aligned table, the first with the titles. Nothing is cut: columns that can be missed are left out instead. */
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
