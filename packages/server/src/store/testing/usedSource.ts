import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SERVICE_DATABASE_NAME } from '@bezel/protocol/dataFolder'
import { openStore } from '../openStore.ts'
import { TABLES } from '../tables.ts'

/** Text that is easily changed on its way: quotes, a line feed, an escape, and signs of more than one byte. */
const AWKWARD_TEXT = `"ü\\n€ \n\t'𝄞{}`
/** Largest whole number that both engines keep. */
const LARGEST = 2n ** 63n - 1n

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly pk: number
}

/** Makes a SQLite store in a folder with `rowsPerTable` rows in every table, whatever the schema is. */
export async function makeUsedSource(folder: string, rowsPerTable: number): Promise<void> {
  await (await openStore(folder)).close()
  const database = new DatabaseSync(join(folder, SERVICE_DATABASE_NAME))
  database.exec('pragma foreign_keys = on')
  database.exec('begin')
  for (const table of TABLES) {
    const columns = database.prepare('select * from pragma_table_info(?)').all(table) as unknown as Column[]
    const isSingle = columns.every(({ pk }) => pk === 0)
    if (isSingle) database.exec(`update ${table} set ${columns[0]!.name} = 1000`)
    else for (let row = 1; row <= rowsPerTable; row++) insertRow(database, table, columns, row)
  }
  database.exec('commit')
  database.close()
}

function insertRow(database: DatabaseSync, table: string, columns: readonly Column[], row: number): void {
  const references = database.prepare('select "from" as name from pragma_foreign_key_list(?)').all(table) as {
    name: string
  }[]
  const referring = new Set(references.map(({ name }) => name))
  const values = columns.map(({ name, type, notnull, pk }) => {
    const isKey = pk > 0 || referring.has(name)
    if (type === 'bigint') return isKey || row > 1 ? BigInt(row) : LARGEST
    // References lead to the attempt of the same number.
    if (isKey) return `key ${row}`
    return notnull === 0 && row % 2 === 0 ? null : `${name} ${row} ${AWKWARD_TEXT}`
  })
  const marks = columns.map(() => '?').join(', ')
  database.prepare(`insert into ${table} values (${marks})`).run(...values)
}
