import { spellCommands, type Typing } from './advice.ts'
import { NO_BREAK, type Style, plainText, wrapWords } from './text.ts'
import type { Output } from './createOutput.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  /** Aligns the column to the right, so that digits stand below each other. */
  readonly isNumber?: boolean
  /**
   * Order in which columns drop to the lines below their row when the terminal is too narrow: the highest first, those
   * without it last. The first column always stays.
   */
  readonly drop?: number
  readonly paint?: (row: Row, style: Style) => (text: string) => string
}

/** The room that lines are made for. */
export interface PageShape {
  /** Width of the terminal in characters; `undefined` when the output has no width. */
  readonly width: number | undefined
  readonly style: Style
  /** The way in which commands of remedies are spelled. Default: without options. */
  readonly typing?: Typing
}

const GAP = '  '

interface Measured<Row> {
  readonly column: Column<Row>
  readonly cells: readonly string[]
  readonly width: number
}

/**
 * Formats an aligned table, titles first. No cell is cut and none is left out: columns that do not fit are told below
 * each row, with their titles.
 */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], shape: PageShape): string[] {
  const measured = columns.map((column) => measure(column, rows))
  const beside = fit(measured, shape.width)
  const below = measured.filter((entry) => !beside.includes(entry))
  const head = line(beside.map(({ column, width }) => pad(column.title, width, column.isNumber)))
  const body = rows.flatMap((row, place) => [
    line(
      beside.map(({ column, cells, width }) =>
        paintCell(column, row, shape)(pad(cells[place]!, width, column.isNumber)),
      ),
    ),
    ...linesBelow(
      row,
      below.map(({ column, cells }) => ({ column, cell: cells[place]! })),
      shape,
    ),
  ])
  return [shape.style.dim(head), ...body]
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const cells = rows.map((row) => plainText(column.cell(row)))
  const width = cells.reduce((widest, cell) => Math.max(widest, cell.length), column.title.length)
  return { column, cells, width }
}

/** Returns the columns that stand beside each other. */
function fit<Row>(measured: readonly Measured<Row>[], width: number | undefined): readonly Measured<Row>[] {
  const total = measured.reduce((sum, entry) => sum + entry.width + GAP.length, -GAP.length)
  if (width === undefined || total <= width || measured.length === 1) return measured
  const drops = measured.slice(1).map(({ column }) => column.drop ?? 0)
  const place = 1 + drops.lastIndexOf(Math.max(...drops))
  return fit(measured.toSpliced(place, 1), width)
}

function paintCell<Row>({ paint }: Column<Row>, row: Row, { style }: PageShape): (text: string) => string {
  return paint === undefined ? (text) => text : paint(row, style)
}

interface NamedCell<Row> {
  readonly column: Column<Row>
  readonly cell: string
}

/** Returns the lines below a row: as many cells in each as fit, and those without text left out. */
function linesBelow<Row>(row: Row, cells: readonly NamedCell<Row>[], shape: PageShape): string[] {
  const room = (shape.width ?? Number.POSITIVE_INFINITY) - GAP.length
  const lines: string[] = []
  let used = room
  for (const { column, cell } of cells.filter((entry) => entry.cell !== '')) {
    const title = column.title.toLowerCase()
    const length = title.length + 1 + cell.length
    if (length > room) {
      lines.push(...wrapWords(`${title} ${cell}`, room).map((text) => `${GAP}${text}`))
      used = room
      continue
    }
    const painted = `${shape.style.dim(title)} ${paintCell(column, row, shape)(cell)}`
    const isBeside = used + GAP.length + length <= room
    if (isBeside) lines.push(`${lines.pop()}${GAP}${painted}`)
    else lines.push(`${GAP}${painted}`)
    used = isBeside ? used + GAP.length + length : length
  }
  return lines
}

function pad(text: string, width: number, isNumber = false): string {
  return isNumber ? text.padStart(width) : text.padEnd(width)
}

function line(cells: readonly string[]): string {
  return cells.join(GAP).trimEnd()
}

/**
 * Formats one thing, a line for each field. Fields without a value are left out; a value that is too long goes on below
 * itself. Commands in values are spelled as the user types them.
 */
export function formatFields(
  fields: readonly (readonly [string, string | null | undefined])[],
  { width, style, typing }: PageShape,
): string[] {
  const there = fields.filter((field): field is readonly [string, string] => typeof field[1] === 'string')
  const indent = Math.max(0, ...there.map(([name]) => name.length)) + GAP.length
  const room = (width ?? Number.POSITIVE_INFINITY) - indent
  return there.flatMap(([name, value]) =>
    wrapWords(plainText(spellCommands(value, typing, NO_BREAK)), room).map((text, place) =>
      place === 0 ? style.dim(name.padEnd(indent - GAP.length)) + GAP + text : ' '.repeat(indent) + text,
    ),
  )
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
