import { lstatSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '@bezel/protocol'

/** SQLite's code for a lock that somebody else holds. */
const SQLITE_BUSY = 5

/** Locks held by this process: a database that nobody refers to is closed by the garbage collector, and its lock with it. */
const held = new Set<DatabaseSync>()

/** An advisory lock that the system gives up by itself when the process ends, however it ends. */
export interface FileLock {
  readonly release: () => void
}

/**
 * Locks the file at `path`, made when missing; `undefined` when another process (or this one) holds it. Node has no `flock`, so an
 * empty SQLite database stands in: its exclusive transaction is a lock of the operating system. A file with a process id in it
 * would need a guess whether that process is still the same one.
 */
export function lockFile(path: string): FileLock | undefined {
  refuseIrregularFile(path)
  const database = new DatabaseSync(path, { open: false, timeout: 0 })
  const release = (): void => {
    held.delete(database)
    if (database.isOpen) database.close()
  }
  try {
    database.open()
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    held.add(database)
    return { release }
  } catch (error) {
    release()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw new StartupError(`The lock file ${path} can't be used (${(error as Error).message}): remove it.`)
  }
}

/** A symbolic link here would make SQLite open a file somewhere else. */
function refuseIrregularFile(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined || entry.isFile()) return
  throw new StartupError(`The lock file ${path} is not a plain file: remove it or set BEZEL_DATA to another folder.`)
}
