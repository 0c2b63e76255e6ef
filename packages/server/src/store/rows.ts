import type { RowStatement, SqlValue } from './sql.ts'

/** Ranks of statements: tables that others refer to, tables that refer to those, all other new rows, changes. */
export const RANK = { parents: 0, children: 1, rows: 2, changes: 3 } as const

const listOf = (columns: readonly string[], of: (column: string, at: number) => string): string =>
  columns.map(of).join(', ')

/** Returns the statement that inserts a row into a table. No two rows are the same. */
export function insertInto(table: string, columns: readonly string[], rank: number = RANK.rows): RowStatement {
  const names = columns.join(', ')
  return {
    text: `insert into ${table} (${names}) values (${listOf(columns, (_, at) => `$${at + 1}`)})`,
    bulk: `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::json)`,
    columns,
    keyColumns: 0,
    rank,
  }
}

/** Returns the statement that changes the row with this key, the first parameter. */
export function updateByKey(table: string, key: string, changed: readonly string[]): RowStatement {
  return {
    text: `update ${table} set ${listOf(changed, (column, at) => `${column} = $${at + 2}`)} where ${key} = $1`,
    bulk: `update ${table} set ${listOf(changed, (column) => `${column} = changed.${column}`)}
      from json_populate_recordset(null::${table}, $1::json) as changed where ${table}.${key} = changed.${key}`,
    columns: [key, ...changed],
    keyColumns: 1,
    rank: RANK.changes,
  }
}

/** A statement with its parameters. */
export interface Bound {
  readonly text: string
  readonly params: readonly SqlValue[]
}

/** Statements that wait to be sent together. */
export interface WriteQueue {
  /** Number of rows and other statements that wait. */
  readonly size: number
  add(statement: string | RowStatement, params: readonly SqlValue[]): void
  /** Returns the statements to send, in order, and empties the queue. */
  take(): Bound[]
}

/** The rows of one statement that wait. */
interface Batch {
  readonly rows: (readonly SqlValue[])[]
  readonly keys: Set<string>
}

type Segment = Bound | Map<RowStatement, Batch>

/**
 * Collects statements whose results nobody needs. Rows of one statement become one statement. A statement that is no
 * row's stays where it is among all others, and so does a row whose key came before.
 */
export function createWriteQueue(): WriteQueue {
  let segments: Segment[] = []
  let size = 0

  function addRow(statement: RowStatement, params: readonly SqlValue[]): void {
    const key = params.slice(0, statement.keyColumns).join(' ')
    let last = segments.at(-1)
    const isFree = last instanceof Map && (statement.keyColumns === 0 || last.get(statement)?.keys.has(key) !== true)
    if (!(last instanceof Map) || !isFree) segments.push((last = new Map()))
    const batch = last.get(statement)
    if (batch === undefined) last.set(statement, { rows: [params], keys: new Set([key]) })
    else {
      batch.rows.push(params)
      batch.keys.add(key)
    }
  }

  return {
    get size() {
      return size
    },
    add(statement, params) {
      size += 1
      if (typeof statement === 'string') segments.push({ text: statement, params })
      else addRow(statement, params)
    },
    take() {
      const taken = segments
      segments = []
      size = 0
      return taken.flatMap((segment) => (segment instanceof Map ? boundOf(segment) : [segment]))
    },
  }
}

function boundOf(batches: ReadonlyMap<RowStatement, Batch>): Bound[] {
  const inOrder = [...batches].toSorted(([one], [other]) => one.rank - other.rank)
  return inOrder.map(([statement, { rows }]) =>
    rows.length === 1
      ? { text: statement.text, params: rows[0]! }
      : { text: statement.bulk, params: [toJson(statement, rows)] },
  )
}

/** Returns rows as JSON. Whole numbers are text, which PostgreSQL reads exactly. */
function toJson({ columns }: RowStatement, rows: readonly (readonly SqlValue[])[]): string {
  const named = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, jsonValue(row[at]!)])))
  return JSON.stringify(named)
}

function jsonValue(value: SqlValue): string | number | null {
  if (typeof value === 'bigint') return String(value)
  // JSON of PostgreSQL refuses half a character, which a parameter would have replaced.
  return typeof value === 'string' ? value.toWellFormed() : value
}
