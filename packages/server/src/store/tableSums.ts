import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Sql } from './sql.ts'

/** The content of a table in numbers, which are the same in both engines when every value of every row is. */
export interface TableSum {
  readonly rows: bigint
  /** Sum over all rows of a digest of all their values, as hexadecimal text; independent of the order of rows. */
  readonly sum: string
}

/** Hexadecimal digits of a digest that are added up as one number. Small, so that no sum leaves 64 bits. */
const DIGITS_PER_PART = 8
const PARTS_PER_DIGEST = 2

interface SumRow {
  readonly rows: bigint
  readonly part_0: bigint
  readonly part_1: bigint
}

/** Returns whether two tables hold the same. */
export function isSameSum(one: TableSum, other: TableSum): boolean {
  return one.rows === other.rows && one.sum === other.sum
}

/** Adds up a table of PostgreSQL, with the columns that its own catalogue names. */
export async function sumPostgresTable(sql: Sql, table: string): Promise<TableSum> {
  const columns = await sql.all<{ name: string }>(
    'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1',
    table,
  )
  const names = columns.map(({ name }) => name)
  const numberOf = (digits: string): string => `('x' || ${digits})::bit(32)::bigint`
  const row = await sql.get<SumRow>(sumStatement(table, names, numberOf))
  return toSum(row!)
}

/** Gives a connection to SQLite the functions that `sumSqliteTable` needs, which PostgreSQL has. */
export function addSumFunctions(database: DatabaseSync): void {
  const options = { deterministic: true, useBigIntArguments: true }
  database.function('md5', options, (text) => createHash('md5').update(String(text), 'utf8').digest('hex'))
  database.function('hex_number', options, (digits) => BigInt(`0x${String(digits)}`))
}

/** Adds up a table of SQLite, with the columns that its own catalogue names. */
export function sumSqliteTable(database: DatabaseSync, table: string): TableSum {
  const columns = database.prepare('select name from pragma_table_info(?)').all(table) as { name: string }[]
  const names = columns.map(({ name }) => name)
  const statement = database.prepare(sumStatement(table, names, (digits) => `hex_number(${digits})`))
  statement.setReadBigInts(true)
  return toSum(statement.get() as unknown as SumRow)
}

/** `numberOf` returns the expression that makes a number of hexadecimal digits. */
function sumStatement(table: string, columns: readonly string[], numberOf: (digits: string) => string): string {
  const parts = Array.from({ length: PARTS_PER_DIGEST }, (_, at) => {
    const digits = `substr(digest, ${at * DIGITS_PER_PART + 1}, ${DIGITS_PER_PART})`
    return `coalesce(sum(${numberOf(digits)}), 0) as part_${at}`
  })
  const row = columns.toSorted().map(valueExpression).join(' || ')
  return `select count(*) as rows, ${parts.join(', ')} from (select md5(${row}) as digest from ${table}) as digests`
}

/** Returns the expression of a value as text that no other value has: its length stands before it. */
function valueExpression(column: string): string {
  const text = `cast(${column} as text)`
  return `case when ${column} is null then '-' else cast(length(${text}) as text) || ':' || ${text} end`
}

function toSum({ rows, part_0, part_1 }: SumRow): TableSum {
  return { rows, sum: `${part_0.toString(16)}-${part_1.toString(16)}` }
}
