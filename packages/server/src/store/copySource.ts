import { createHash } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { StartupError } from '@bezel/protocol'
import { COPIED_DATABASE_NAME, SERVICE_DATABASE_NAME } from '@bezel/protocol/dataFolder'
import { TABLES } from './tables.ts'
import { addSumFunctions, sumSqliteTable, type TableSum } from './tableSums.ts'

/** Type of a column. Both engines have these two alone. */
type ColumnType = 'bigint' | 'text'

/** A table of the source, as its catalogue tells it. */
export interface SourceTable {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
  /** The columns of its primary key; none for a table of one row. */
  readonly key: readonly string[]
}

/** Rows of a table that follow each other by their key. */
export interface SourcePart {
  /** The rows as a JSON list of objects, with whole numbers as text. */
  readonly json: string
  readonly rows: number
  /** The key of the last row as JSON text; `null` when there is none. */
  readonly lastKey: string | null
  /** True when no row follows. */
  readonly isLast: boolean
}

/** A SQLite store that nobody can change while it is copied. */
export interface CopySource {
  readonly sums: ReadonlyMap<string, TableSum>
  /** Digest of all sums: two sources with the same one hold the same. */
  readonly digest: string
  readTable(name: string): SourceTable
  /** Reads the rows after a key. */
  readPart(table: SourceTable, lastKey: string | null, bounds: PartBounds): SourcePart
  close(): void
}

export interface PartBounds {
  readonly rows: number
  /** Length of the text after which a part ends, in characters. */
  readonly chars: number
}

/** Opens the store of a folder for a copy. Throws a `StartupError` when somebody else writes it. */
export function openCopySource(folder: string): CopySource {
  const database = new DatabaseSync(join(folder, SERVICE_DATABASE_NAME))
  try {
    // Keeps everybody else from writing until the copy is compared.
    database.exec('begin immediate')
  } catch (error) {
    database.close()
    throw new StartupError(
      `The store in ${folder} can't be read alone (${(error as Error).message}): end the program that writes it.`,
    )
  }
  addSumFunctions(database)
  const sums = new Map(TABLES.map((table) => [table, sumSqliteTable(database, table)]))
  const texts = TABLES.map((table) => `${table} ${sums.get(table)!.rows} ${sums.get(table)!.sum}\n`)
  return {
    sums,
    digest: createHash('sha256').update(texts.join('')).digest('hex'),
    readTable: (name) => readTable(database, name),
    readPart: (table, lastKey, bounds) => readPart(database, table, lastKey, bounds),
    close() {
      database.exec('rollback')
      // Everything is in the file itself when it gets another name, also while a command has it open.
      database.exec('pragma wal_checkpoint(truncate)')
      database.close()
    },
  }
}

/** Puts the store of a folder aside, so that no service goes on with it beside its copy. Returns its new path. */
export function putAside(folder: string): string {
  const [from, to] = [join(folder, SERVICE_DATABASE_NAME), join(folder, COPIED_DATABASE_NAME)]
  for (const ending of ['', '-wal', '-shm']) if (existsSync(from + ending)) renameSync(from + ending, to + ending)
  return to
}

function readTable(database: DatabaseSync, name: string): SourceTable {
  const rows = database.prepare('select name, lower(type) as type, pk from pragma_table_info(?)').all(name) as {
    name: string
    type: ColumnType
    pk: number
  }[]
  const key = rows.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
  return {
    name,
    columns: rows.map(({ name: column, type }) => ({ name: column, type })),
    key: key.map((of) => of.name),
  }
}

function readPart(database: DatabaseSync, table: SourceTable, lastKey: string | null, bounds: PartBounds): SourcePart {
  const { name, columns, key } = table
  const names = columns.map((column) => column.name).join(', ')
  const order = key.length === 0 ? '' : ` order by ${key.join(', ')}`
  const after = lastKey === null ? '' : ` where (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`
  const statement = database.prepare(`select ${names} from ${name}${after}${order}`)
  statement.setReadBigInts(true)
  const texts: string[] = []
  let last: Readonly<Record<string, unknown>> | undefined
  let chars = 0
  let isLast = true
  for (const row of statement.iterate(...keyValues(table, lastKey))) {
    if (key.length > 0 && (texts.length >= bounds.rows || chars >= bounds.chars)) {
      isLast = false
      break
    }
    last = row as Readonly<Record<string, unknown>>
    texts.push(JSON.stringify(last, bigintAsText))
    chars += texts.at(-1)!.length
  }
  const nextKey = last === undefined ? lastKey : JSON.stringify(key.map((column) => String(last[column])))
  return { json: `[${texts.join(',')}]`, rows: texts.length, lastKey: nextKey, isLast }
}

/** Returns the values of a key for a statement, each in the type of its column. */
function keyValues({ columns, key }: SourceTable, lastKey: string | null): SQLInputValue[] {
  if (lastKey === null) return []
  const values = JSON.parse(lastKey) as string[]
  return key.map((name, at) => {
    const value = values[at]!
    return columns.find((column) => column.name === name)!.type === 'bigint' ? BigInt(value) : value
  })
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
