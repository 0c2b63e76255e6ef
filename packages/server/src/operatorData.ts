import { StartupError } from '@bezel/protocol'
import { REPLAY_WINDOW_MS } from './access/nonceMemory.ts'
import { NONCE_WINDOW_MS } from './facade/signing/facadeNonces.ts'
import { readDataPlace, type DataPlace } from './settings/dataPlace.ts'
import { copyStore, type CopiedTable, type CopyBeginning } from './store/copyStore.ts'
import { lockDataFolder } from './store/lockDataFolder.ts'
import { openConfiguredStore, openRestoredStore } from './store/openConfiguredStore.ts'
import { refuseNoStore } from './store/openStore.ts'
import { markRestored } from './store/restoredStore.ts'
import { readVersion } from './store/schemaSteps.ts'

/** The parts of a process that the operator's commands use. */
export interface OperatorHost {
  /** Arguments after the name of the program. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: OperatorStream
  readonly stderr: OperatorStream
  readonly now: () => number
}

/** A stream of a process; `columns` is the width of a terminal. */
interface OperatorStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Moves a terminal's cursor to the beginning of its line and empties the line. */
export const CLEAR_LINE = '\r\u001b[2K'

const BEGINNINGS: Readonly<Record<CopyBeginning, string>> = {
  new: 'The database is empty: the copy begins.',
  'goes on': 'The copy goes on where it ended.',
  'begins again': 'The store has changed since the copy began, so the copy begins again.',
  complete: 'The copy was complete already: it is compared once more.',
}

/** Copies the SQLite store of the data folder to PostgreSQL. Returns 1 when the copy differs from its source. */
export async function copyData({ env, stdout, stderr }: OperatorHost): Promise<number> {
  const { dataFolder, database } = readDataPlace(env)
  if (database === undefined) {
    throw new StartupError(
      `Set DATABASE_URL to the empty database that gets a copy of the data in ${dataFolder}: postgresql://user:password@host:5432/database.`,
    )
  }
  stderr.write(`From the data folder ${dataFolder} to the database of DATABASE_URL:\n`)
  const isTold = stderr.isTTY === true
  const { tables, keptAs } = await copyStore({
    dataFolder,
    database,
    onBegin: (beginning) => stderr.write(`${BEGINNINGS[beginning]}\n`),
    onPart: ({ table, rows, of }) => isTold && stderr.write(`${CLEAR_LINE}${table}: ${rows} of ${of} rows`),
  })
  if (isTold) stderr.write(CLEAR_LINE)
  stdout.write(`${[...formatTables(tables), copyOutcome(tables, keptAs)].join('\n')}\n`)
  return keptAs === undefined ? 1 : 0
}

/**
 * Brings the schema of PostgreSQL up to date, for services whose own user may not change it. A step that takes
 * something away waits until no older service runs.
 */
export async function migrateData({ env, stdout, stderr }: OperatorHost): Promise<number> {
  const place = readDataPlace(env)
  if (place.database === undefined) {
    throw new StartupError(
      'Set DATABASE_URL to the database whose tables are to be made or changed. The start of the service does it for SQLite.',
    )
  }
  const store = await openConfiguredStore(place, { onWait: (sentence) => stderr.write(`${sentence}\n`) })
  try {
    stdout.write(`The schema in ${nameOf(place)} is up to date (${await readVersion(store.read)}).\n`)
    return 0
  } finally {
    await store.close()
  }
}

/**
 * Makes the store safe to start on after a back-up was put back. A request is accepted when its time is a little ahead
 * of the clock, so the floors are as far ahead: whatever was accepted before this moment is below them.
 */
export async function markDataRestored({ env, stdout, stderr, now }: OperatorHost): Promise<number> {
  const place = readDataPlace(env)
  if (place.database === undefined) refuseNoStore(place.dataFolder)
  const lock = lockDataFolder(place.dataFolder, [])
  try {
    const store = await openRestoredStore(place, { onWait: (sentence) => stderr.write(`${sentence}\n`) })
    stderr.write(`In ${nameOf(place)}:\n`)
    try {
      const nowMs = now()
      const [nonceFloorMs, facadeFloorMs] = [nowMs + REPLAY_WINDOW_MS, nowMs + NONCE_WINDOW_MS]
      const given = { nowMs, nonceFloorMs, facadeFloorMs }
      const dropped = await store.transaction({ name: 'schema' }, (sql) => markRestored(sql, given))
      const [native, facade] = [nonceFloorMs, facadeFloorMs].map((ms) => new Date(ms).toISOString())
      stdout.write(
        `Nothing that was signed before is accepted again: requests have to be signed after ${native}, envelopes of the facade after ${facade}. ${dropped} relayed actions of the back-up are not sent any more. Start the service now: it reads what happened since from the chain.\n`,
      )
      return 0
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

/** Returns the name of the place of the data, without anything secret. */
export function nameOf({ dataFolder, database }: DataPlace): string {
  return database === undefined ? `the data folder ${dataFolder}` : 'the database of DATABASE_URL'
}

function copyOutcome(tables: readonly CopiedTable[], keptAs: string | undefined): string {
  if (keptAs === undefined) {
    const differing = tables.filter(({ isSame }) => !isSame).map(({ table }) => table)
    return `The copy differs from the store in ${differing.join(', ')}: run the same command again, which begins again.`
  }
  const rows = tables.reduce((sum, { target }) => sum + target.rows, 0n)
  return `${rows} rows of ${tables.length} tables are copied, and both sides have the same sums. The old store is now ${keptAs}. Start the service with DATABASE_URL and the same BEZEL_DATA, which has the used nonces of reads.`
}

/** Returns a line for each table: rows and sum on both sides; the second sum only where it differs. */
function formatTables(tables: readonly CopiedTable[]): string[] {
  const cells = tables.map(({ table, source, target, isSame }) => [
    table,
    String(source.rows),
    String(target.rows),
    isSame ? source.sum : `${source.sum} is not ${target.sum}`,
  ])
  const rows = [['table', 'rows', 'copied', 'sum'], ...cells]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map(([table, ...rest]) => {
    const [source, target, sum] = rest
    return `${table!.padEnd(widths[0]!)}  ${source!.padStart(widths[1]!)}  ${target!.padStart(widths[2]!)}  ${sum!}`
  })
}
