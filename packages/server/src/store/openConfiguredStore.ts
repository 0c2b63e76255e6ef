import { DatabaseError } from 'pg'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '@bezel/protocol'
import { isServiceRunning, SERVICE_DATABASE_NAME } from '@bezel/protocol/dataFolder'
import { certificateProblem, postgresTargetOf } from '../settings/dataConnections.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { DatabaseSettings, DataPlace } from '../settings/dataPlace.ts'
import { refuseHalfCopy } from './copyState.ts'
import { readClockAhead, readTime, refuseWrongClock } from './databaseClock.ts'
import { createPostgresConnections, type PostgresConnection } from './postgresConnections.ts'
import { openPostgres } from './postgres.ts'
import {
  dataFileError,
  migrate,
  openExistingStore,
  openStore,
  refuseCopied,
  refuseNoStore,
  refuseOtherVersion,
  type ContractWait,
} from './openStore.ts'
import { listLiveNodes, type LiveNode } from './nodeStore.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { hasTable, isUsableVersion, mayChangeSchema, readVersion } from './schemaSteps.ts'
import { requireServingRights } from './servingRights.ts'
import type { Sql, Store, StoreWatch } from './sql.ts'
import { openSqlite } from './sqlite.ts'
import { VERSION_TABLE } from './tables.ts'

/** Oldest server that is supported, as `server_version_num` tells it. */
const MIN_VERSION_NUMBER = 150_000n
/** Number of the lock that the look at the server takes; nobody else uses it. */
const PROBE_LOCK = 4_242_001n

/**
 * Opens the store that the settings name, and brings its schema up to date. A user of PostgreSQL who may not change it
 * needs one that is up to date. Throws a `StartupError` that says what to correct when it can't be used.
 */
export async function openConfiguredStore(
  { dataFolder, database }: DataPlace,
  wait: ContractWait = {},
  watch?: StoreWatch,
): Promise<Store> {
  if (database === undefined) return openStore(dataFolder, watch)
  refuseSqliteBeside(dataFolder)
  const prepare = async (store: Store): Promise<void> => {
    await refuseWrongClock(store.read)
    await refuseHalfCopy(store.read)
    if (await mayChangeSchema(store.read)) await migrate(store, MIGRATIONS, wait)
    else await requireServingRights(store.read, wait)
  }
  return openDatabase(database, prepare, watch)
}

/** Throws a `StartupError` for a folder with a SQLite store, so that nobody starts with no data by mistake. */
function refuseSqliteBeside(dataFolder: string): void {
  if (!existsSync(join(dataFolder, SERVICE_DATABASE_NAME))) return
  throw new StartupError(
    `The data folder ${dataFolder} holds a SQLite store, and DATABASE_URL is set: run bezel-server copy to take it along, leave out DATABASE_URL to go on with it, or set BEZEL_DATA to another folder.`,
  )
}

/** The state of a store, as far as a look shows it. */
export interface StoreLook {
  readonly engine: Sql['engine']
  /** Version of its schema; 0 for an empty database. */
  readonly version: number
  /** True when this version can start on it, after it has brought an older schema up to date. */
  readonly isUsable: boolean
  /** The services that run on it. */
  readonly nodes: readonly LiveNode[]
  /** Time by which this machine's clock is ahead of the database's at least; negative when it is behind. */
  readonly clockAheadMs: number
}

/**
 * Looks at the store that the settings name, and changes nothing. Returns `undefined` for SQLite whose service does not
 * run. Throws the `StartupError` of a start.
 */
export async function inspectConfiguredStore({ dataFolder, database }: DataPlace): Promise<StoreLook | undefined> {
  if (database === undefined) {
    refuseCopied(dataFolder)
    return isServiceRunning(dataFolder) ? lookAtFile(join(dataFolder, SERVICE_DATABASE_NAME)) : undefined
  }
  refuseSqliteBeside(dataFolder)
  let look: StoreLook | undefined
  const store = await openDatabase(database, async ({ read }) => {
    await refuseHalfCopy(read)
    if (!(await mayChangeSchema(read))) await requireServingRights(read, { isDeferred: true })
    look = await lookAt(read)
  })
  await store.close()
  return look
}

async function lookAtFile(file: string): Promise<StoreLook> {
  try {
    const store = openSqlite(file)
    return await lookAt(store.read).finally(() => store.close())
  } catch (error) {
    throw dataFileError(error, file)
  }
}

async function lookAt(sql: Sql): Promise<StoreLook> {
  const known = MIGRATIONS.length
  const version = (await hasTable(sql, VERSION_TABLE)) ? await readVersion(sql) : 0
  const isUsable = version <= known || (await isUsableVersion(sql, version, known))
  const nodes = await listLiveNodes(sql)
  return { engine: sql.engine, version, isUsable, nodes, clockAheadMs: await readClockAhead(sql) }
}

/** Reads the time of a database, in milliseconds since the epoch. Throws a `StartupError` when it can't be used. */
export async function readDatabaseTime(database: DatabaseSettings): Promise<number> {
  let timeMs = 0
  const store = await openDatabase(database, async ({ read }) => {
    timeMs = (await readTime(read)).databaseMs
  })
  await store.close()
  return timeMs
}

/**
 * Opens the store of a service that may be running, for a command beside it. Changes no schema. Throws a `StartupError`
 * when there is no store, or not one that this version can use.
 */
export async function openExistingConfiguredStore({ dataFolder, database }: DataPlace): Promise<Store> {
  if (database === undefined) return openExistingStore(dataFolder)
  return openDatabase(database, async (store) => {
    await refuseHalfCopy(store.read)
    await refuseEmpty(store)
    await refuseOtherVersion(store, 'the database of DATABASE_URL')
  })
}

/**
 * Opens the store after a back-up was put back, and brings its schema up to date. Throws a `StartupError` when there is
 * no data.
 */
export async function openRestoredStore({ dataFolder, database }: DataPlace, wait: ContractWait): Promise<Store> {
  if (database !== undefined) {
    return openDatabase(database, async (store) => {
      await refuseWrongClock(store.read)
      await refuseHalfCopy(store.read)
      await refuseEmpty(store)
      await migrate(store, MIGRATIONS, wait)
    })
  }
  refuseNoStore(dataFolder)
  return openStore(dataFolder)
}

/** Throws a `StartupError` for a database in which no service ever was. */
async function refuseEmpty({ read }: Store): Promise<void> {
  if (await hasTable(read, VERSION_TABLE)) return
  throw new StartupError('There is no data in the database of DATABASE_URL: correct it, or restore a back-up first.')
}

/** Times that a server which is too busy to answer is asked at a start, each for about a second. */
const MAX_OPENINGS = 10

/**
 * Opens a database and prepares it, which may happen again: a machine that has just started answers late. Throws a
 * `StartupError` that says what to correct when it can't be used.
 */
export async function openDatabase(
  database: DatabaseSettings,
  prepare: (store: Store) => Promise<void>,
  watch?: StoreWatch,
): Promise<Store> {
  const place = placeOf(database.url)
  for (let opening = 1; ; opening += 1) {
    const store = openPostgres(database, watch)
    try {
      await refuseUnfit(database, place)
      await prepare(store)
      return store
    } catch (error) {
      await store.close()
      if (opening === MAX_OPENINGS || !isLate(error)) throw databaseErrorOf(error, place)
    }
  }
}

/** Returns true for the error of a server that did not answer in time, also where that ended a statement. */
function isLate(error: unknown): boolean {
  return error instanceof StoreUnavailableError && /timeout|does not answer|terminat/.test(error.message)
}

/** The place in an address, without its password. */
interface Place {
  readonly server: string
  readonly database: string
  readonly user: string
}

function placeOf(url: string): Place {
  const parsed = URL.parse(url)
  const isPlace = parsed !== null && /^postgres(?:ql)?:$/.test(parsed.protocol) && parsed.pathname.length > 1
  // An @ behind the host means that the password ended too early, and a part of it is taken for the server's name.
  if (!isPlace || /@/.test(parsed.pathname + parsed.search + parsed.hash)) {
    throw new StartupError(
      'DATABASE_URL is no address of a PostgreSQL database: write postgresql://user:password@host:5432/database, with %2F for a / in the password, and so on.',
    )
  }
  const { host, pathname, username } = parsed
  return { server: host, database: decodeURIComponent(pathname.slice(1)), user: decodeURIComponent(username) }
}

/** Looks at the server on one connection, and throws a `StartupError` for one on which the store would not be exact. */
async function refuseUnfit(database: DatabaseSettings, place: Place): Promise<void> {
  const connections = createPostgresConnections({ target: postgresTargetOf(database), size: 1 })
  try {
    await refuseUnfitServer(await connections.acquire(), place)
  } finally {
    await connections.close()
  }
}

async function refuseUnfitServer(connection: PostgresConnection, { database }: Place): Promise<void> {
  await connection.script('begin')
  await connection.query('select pg_advisory_xact_lock($1)', [PROBE_LOCK])
  const { rows } = await connection.query<Record<'version' | 'sorts' | 'encoding' | 'locks', bigint | string>>(
    `select current_setting('server_version_num')::bigint as version, 'B' < 'a' and '_' < 'a' as sorts,
       current_setting('server_encoding') as encoding,
       (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and granted) as locks`,
    [],
  )
  const { version, sorts, encoding, locks } = rows[0]!
  if (BigInt(version) < MIN_VERSION_NUMBER) {
    throw new StartupError('The PostgreSQL of DATABASE_URL is older than version 15: use 15 or newer.')
  }
  if (locks === 0n) throw new StartupError(STATEMENT_POOLER)
  if (sorts !== 1n || encoding !== 'UTF8') {
    throw new StartupError(
      `The database ${database} of DATABASE_URL does not sort text by its bytes: create it with createdb --template=template0 --locale=C --encoding=UTF8 ${database}.`,
    )
  }
}

const STATEMENT_POOLER =
  'The pooler of DATABASE_URL gives every statement another session: set it to pool transactions or sessions.'

function noRights(user: string, database: string, message: string): string {
  return `The user ${user} of DATABASE_URL may not do this in the database ${database} (${message}): use the address of the user who owns its tables, or make ${user} that (alter database ${database} owner to ${user}).`
}

/** Codes of PostgreSQL: wrong password or user, no such database, no rights. */
const LOGIN_CODES: ReadonlySet<string> = new Set(['28P01', '28000'])
const NO_DATABASE_CODE = '3D000'
const NO_RIGHTS_CODE = '42501'

function databaseErrorOf(error: unknown, { server, database, user }: Place): unknown {
  if (error instanceof StartupError) return error
  const cause = (error as Error).cause ?? error
  const { message } = cause as Error
  const code = cause instanceof DatabaseError ? (cause.code ?? '') : ''
  if (/pooling mode/.test(message)) return new StartupError(STATEMENT_POOLER)
  const untrusted = certificateProblem(cause)
  if (untrusted !== undefined) {
    return new StartupError(
      `The certificate of PostgreSQL at ${server} is not the one of that server (${untrusted}): correct the host in DATABASE_URL, or name the authority that signed it by sslrootcert or BEZEL_DATABASE_CA_FILE.`,
    )
  }
  if (LOGIN_CODES.has(code)) {
    return new StartupError(
      `PostgreSQL at ${server} refuses the user ${user} of DATABASE_URL (${message}): correct it.`,
    )
  }
  if (code === NO_DATABASE_CODE) {
    return new StartupError(
      `There is no database ${database} at ${server}: create it with createdb --template=template0 --locale=C --encoding=UTF8 ${database}, or correct DATABASE_URL.`,
    )
  }
  if (code === NO_RIGHTS_CODE) return new StartupError(noRights(user, database, message))
  return new StartupError(`PostgreSQL at ${server} can't be used (${message}): start it, or correct DATABASE_URL.`)
}
