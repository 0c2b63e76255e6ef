import type { ComponentChildren } from 'preact'
import { Skeleton } from './Skeleton.tsx'

export interface Column<Row> {
  readonly id: string
  /** Words at the head of the column; in cards they stand before the value. */
  readonly header: ComponentChildren
  /** Default `start`; numbers are at the `end`. */
  readonly align?: 'start' | 'end' | undefined
  readonly cell: (row: Row) => ComponentChildren
  /**
   * Width below which the column is left out: 900 px (`sm`), 1200 px (`md`), 1600 px (`lg`). Cards show all columns.
   */
  readonly hideBelow?: 'sm' | 'md' | 'lg' | undefined
  /** Hides the header from sight, as for a column of buttons. In cards the value then takes the whole width. */
  readonly hideHeader?: boolean | undefined
}

export interface DataTableProps<Row> {
  /** Name of the table for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  /** Null while they are loaded. */
  readonly rows: readonly Row[] | null
  readonly rowKey: (row: Row) => string
  /** Shown when there are no rows. */
  readonly empty: ComponentChildren
  /** Shows a skeleton of three rows. */
  readonly loading?: boolean | undefined
  readonly rowTestId?: ((row: Row) => string) | undefined
  /** Class of a row, for instance for one that was undone. */
  readonly rowClass?: ((row: Row) => string | undefined) | undefined
  /** A further line below a row over the whole width, such as its timeline; null for none. */
  readonly detail?: ((row: Row) => ComponentChildren | null) | undefined
  readonly testId?: string | undefined
}

/**
 * A table that turns into a list of cards below 640 px. The roles are written out because the cards lay the cells out
 * in another way, which takes their meaning from them.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, empty, loading = false, testId } = props
  if (!loading && rows !== null && rows.length === 0) return <div data-testid={testId}>{empty}</div>
  return (
    <div class="table-scroll" data-testid={testId} role="region" aria-label={caption} tabIndex={0}>
      <table class="table" role="table" aria-busy={loading || rows === null}>
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.id} scope="col" role="columnheader" class={cellClass(column)}>
                <span class={column.hideHeader === true ? 'visually-hidden' : undefined}>{column.header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {loading || rows === null
            ? [0, 1, 2].map((row) => <SkeletonRow key={row} columns={columns} />)
            : rows.map((row) => <TableRow key={rowKey(row)} row={row} table={props} />)}
        </tbody>
      </table>
    </div>
  )
}

function TableRow<Row>({ row, table }: { readonly row: Row; readonly table: DataTableProps<Row> }) {
  const { columns, rowTestId, rowClass, detail } = table
  const below = detail?.(row) ?? null
  return (
    <>
      <tr role="row" data-testid={rowTestId?.(row)} class={rowClass?.(row)}>
        {columns.map((column) => (
          <td key={column.id} role="cell" class={cellClass(column)}>
            <span class="table-label" aria-hidden="true">
              {column.hideHeader === true ? null : column.header}
            </span>
            <span class="table-value">{column.cell(row)}</span>
          </td>
        ))}
      </tr>
      {below !== null && below !== undefined && below !== false && (
        <tr role="row" class="table-detail">
          <td role="cell" colSpan={columns.length}>
            {below}
          </td>
        </tr>
      )}
    </>
  )
}

function SkeletonRow<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <tr role="row">
      {columns.map((column) => (
        <td key={column.id} role="cell" class={cellClass(column)}>
          <Skeleton />
        </td>
      ))}
    </tr>
  )
}

function cellClass<Row>({ align, hideBelow, hideHeader }: Column<Row>): string | undefined {
  const classes: string[] = []
  if (align === 'end') classes.push('table-end')
  if (hideBelow !== undefined) classes.push(`table-hide-${hideBelow}`)
  if (hideHeader === true) classes.push('table-bare')
  return classes.length === 0 ? undefined : classes.join(' ')
}
