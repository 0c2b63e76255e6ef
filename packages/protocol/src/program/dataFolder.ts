import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from './runProgram.ts'

// The data folder of a program: one process at a time, and nobody else's eyes. The service and the local chain share
// this file, because in the sandbox they share a folder. It is an entry of its own, because it loads SQLite.

/** Mode of every file with data: its owner reads and writes it, nobody else. */
export const PRIVATE_FILE_MODE = 0o600

const PRIVATE_FOLDER_MODE = 0o700
/** The bits of a mode that let anybody but the owner in. */
const OTHERS_BITS = 0o077
/** The bit of a folder that everybody writes to, such as /tmp. */
const STICKY_BIT = 0o1000

/** Name of the service's lock. The local chain takes it while it wipes the folder. */
export const SERVICE_LOCK_NAME = 'bezel.lock'

/** Name of the service's database. */
export const SERVICE_DATABASE_NAME = 'bezel.db'

/** Name of the service's database after it was copied to PostgreSQL. */
export const COPIED_DATABASE_NAME = 'bezel.copied.db'

/** Name of the local chain's lock. */
export const SANDBOX_LOCK_NAME = 'bezel-devnet.lock'

/** Name of the file by which a local chain knows a folder that it may wipe. */
export const SANDBOX_MARKER_NAME = 'bezel-devnet-marker.json'

/** Names of which one is enough to know a folder as Bezel's own. */
const MARKS: readonly string[] = [SERVICE_LOCK_NAME, SERVICE_DATABASE_NAME, SANDBOX_LOCK_NAME, SANDBOX_MARKER_NAME]

/** Beginnings of the names of all files that Bezel makes in its data folder. */
const OWN_BEGINNINGS: readonly string[] = ['bezel.', 'bezel-devnet', 'devnet.json', 'nonces.log']

/**
 * Names that file systems and desktops put into a folder by themselves, and that are nobody's data. Other names with a
 * dot are somebody's: a new home folder has nothing else.
 */
export const SYSTEM_NAMES: readonly string[] = [
  'lost+found',
  '.DS_Store',
  '.Spotlight-V100',
  '.Trashes',
  '.fseventsd',
  '.snapshot',
]

/**
 * Makes the folder, or takes the one that is there, and closes it and Bezel's files in it to everybody but its owner.
 * Throws a `StartupError`, and touches nothing, for a folder in which somebody else lives, such as a home folder: it
 * has entries that are neither Bezel's nor one of the files `beside` (absolute paths), and nothing that is Bezel's.
 */
export function makePrivateFolder(folder: string, beside: readonly string[] = []): void {
  withFolderErrors(folder, () => {
    makeFolder(folder)
    const names = readdirSync(folder)
    const hasData = names.some((name) => MARKS.includes(name))
    if (!hasData) refuseForeignFolder(folder, names, beside)
    closeFolder(folder, hasData)
    for (const name of names) if (isOwnName(name)) closeFile(join(folder, name))
  })
}

/** State of a data folder: not there, open to other users, or closed to them. */
export type FolderState = 'missing' | 'open' | 'private'

/**
 * Looks at the folder without touching it. Throws the `StartupError` of `makePrivateFolder` for one that a start would
 * refuse.
 */
export function inspectPrivateFolder(folder: string, beside: readonly string[] = []): FolderState {
  return withFolderErrors(folder, () => {
    if (!existsSync(folder)) return 'missing'
    const names = readdirSync(folder)
    const hasData = names.some((name) => MARKS.includes(name))
    if (!hasData) refuseForeignFolder(folder, names, beside)
    refuseSharedFolder(folder, hasData)
    const ownFiles = names.filter(isOwnName).map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }))
    const isOpen = (mode: number): boolean => (mode & OTHERS_BITS) !== 0
    const isAnyOpen = isOpen(statSync(folder).mode) || ownFiles.some((entry) => entry?.isFile() && isOpen(entry.mode))
    return isAnyOpen ? 'open' : 'private'
  })
}

function refuseForeignFolder(folder: string, names: readonly string[], beside: readonly string[]): void {
  const expected = [...SYSTEM_NAMES, ...entriesOf(folder, beside)]
  const foreign = names.find((name) => !isOwnName(name) && !expected.includes(name))
  if (foreign === undefined) return
  throw new StartupError(
    `The data folder ${folder} holds files that are not Bezel's (${foreign}), so nothing was touched: ${otherFolder(folder)}.`,
  )
}

function isOwnName(name: string): boolean {
  return OWN_BEGINNINGS.some((beginning) => name.startsWith(beginning))
}

/** Lists the names of the folder's entries that are one of these files, or on the way to one, also through links. */
function entriesOf(folder: string, files: readonly string[]): string[] {
  const home = realpathSync(folder)
  const paths = files.flatMap((file) => [...wayTo(file), ...wayTo(realOf(file))])
  return paths.filter((path) => realOf(dirname(path)) === home).map((path) => basename(path))
}

/** Lists a path and all folders above it. */
function wayTo(path: string): string[] {
  const above = dirname(path)
  return above === path ? [] : [path, ...wayTo(above)]
}

/** Returns a path without links, or as it is where nothing is there. */
function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

// Advice that keeps the data, unlike that of a new folder, in which a service would begin with an empty database.
const OWN_DATA = "make the service's user its owner (chown)"
const MOVE_DATA = "move Bezel's files to a folder of its own and set BEZEL_DATA to that one"

/** `hasData`: the folder has data of Bezel, which another folder would not have. */
function closeFolder(folder: string, hasData: boolean): void {
  if ((statSync(folder).mode & OTHERS_BITS) === 0) return
  refuseSharedFolder(folder, hasData)
  const advice = hasData ? `${OWN_DATA}, or ${MOVE_DATA}` : otherFolder(folder)
  withClosingErrors(`The data folder ${folder}`, advice, () => chmodSync(folder, PRIVATE_FOLDER_MODE))
}

function refuseSharedFolder(folder: string, hasData: boolean): void {
  const { mode } = statSync(folder)
  if ((mode & OTHERS_BITS) === 0 || (mode & STICKY_BIT) === 0) return
  const advice = hasData ? MOVE_DATA : otherFolder(folder)
  throw new StartupError(`The data folder ${folder} is one that all users write to: ${advice}.`)
}

function closeFile(path: string): void {
  withClosingErrors(`The data file ${path}`, OWN_DATA, () => makeFilePrivate(path))
}

/** Turns the failure to change a mode, which only an owner may, into a sentence with the advice. */
function withClosingErrors(what: string, advice: string, step: () => void): void {
  try {
    step()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(`${what} is open to other users and can't be closed to them (${code}): ${advice}.`)
  }
}

/** Returns the advice for a folder that is not Bezel's: a folder below it is made by the next start. */
function otherFolder(folder: string): string {
  return `set BEZEL_DATA to a folder of its own, such as ${join(folder, 'bezel')}`
}

/**
 * Creates the folder level by level, because node's own recursive mkdir never returns on a file system that takes no
 * folders, such as /proc.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER_MODE })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Takes the rights of others from a plain file; leaves everything else, and files that are gone meanwhile. */
function makeFilePrivate(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry?.isFile() !== true || (entry.mode & OTHERS_BITS) === 0) return
  chmodSync(path, entry.mode & ~OTHERS_BITS & 0o777)
}

/** Turns failures of the file system into a sentence: a full disk, a file in place of the folder, missing rights. */
export function withFolderErrors<Result>(folder: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (error instanceof StartupError || syscall === undefined) throw error
    throw new StartupError(`The data folder ${folder} can't be used (${code}): set BEZEL_DATA to another folder.`)
  }
}

/** An advisory lock that the system releases by itself when the process ends, however it ends. */
export interface FileLock {
  readonly release: () => void
}

/** SQLite's code for a lock that somebody else holds. */
const SQLITE_BUSY = 5

/** Locks of this process. The garbage collector would close a database that nobody refers to, and release its lock. */
const held = new Set<DatabaseSync>()

/**
 * Locks the file at `path`, which is created when missing; `undefined` when another process (or this one) holds the
 * lock. Node has no `flock`, so the exclusive transaction of an empty SQLite database serves as a lock of the operating
 * system. A file with a process id would need a guess whether that process is still the same one. Nothing else in this
 * process may open the file: closing it anywhere would release the lock.
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
    makeFilePrivate(path)
    return { release }
  } catch (error) {
    release()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw new StartupError(
      `The lock file ${path} can't be used (${(error as Error).message}): make sure that it may be written and that its disk has space and locks, or set BEZEL_DATA to another folder.`,
    )
  }
}

/** Refuses anything but a plain file: a symbolic link would make SQLite open a file somewhere else. */
function refuseIrregularFile(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined || entry.isFile()) return
  throw new StartupError(
    `The lock file ${path} is not a plain file, so it is not Bezel's: set BEZEL_DATA to another folder.`,
  )
}

/** Time for which an operator's command that has the database open is waited for. */
const COMMAND_WAIT_MS = 1_000

/**
 * Locks the folder for a service, or against all services; `undefined` when a service has it. A service whose lock file
 * was deleted still has its database open, so without a lock file nobody else may. Throws a `StartupError` then.
 */
export function lockService(folder: string): FileLock | undefined {
  const path = join(folder, SERVICE_LOCK_NAME)
  const database = join(folder, SERVICE_DATABASE_NAME)
  if (!existsSync(path) && isOpenElsewhere(database)) {
    throw new StartupError(
      `The database ${database} is open in another program, probably a service whose lock file was deleted: stop that program first, or set BEZEL_DATA to another folder.`,
    )
  }
  return lockFile(path)
}

/**
 * Returns true when a service has the folder. Writes nothing. Not for the process of a service: closing the file there
 * would release its lock.
 */
export function isServiceRunning(folder: string): boolean {
  const path = join(folder, SERVICE_LOCK_NAME)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  const database = new DatabaseSync(path, { open: false, readOnly: true, timeout: 0 })
  try {
    database.open()
    // Any read needs a lock that the service's excludes.
    database.exec('SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY
  } finally {
    if (database.isOpen) database.close()
  }
}

/** Returns true when anybody has the database open. Only the one connection to it can have exclusive use. */
function isOpenElsewhere(path: string): boolean {
  if (!existsSync(path)) return false
  const database = new DatabaseSync(path, { open: false, timeout: COMMAND_WAIT_MS })
  try {
    database.open()
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
    return false
  } catch (error) {
    // Any other fault is told by the store, which opens the file next.
    return ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY
  } finally {
    if (database.isOpen) database.close()
  }
}
