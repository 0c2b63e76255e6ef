import { formatTable, type Column } from '../output/formatTable.ts'
import type { Output } from '../output/createOutput.ts'

/** Answers with a list: its JSON, a table, or a sentence when there is none. */
export function showList<Row>(
  output: Output,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  none: string,
): void {
  output.answer(rows, () => (rows.length === 0 ? [none] : formatTable(rows, columns, output)))
}
