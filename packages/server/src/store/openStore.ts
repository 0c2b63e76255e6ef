import { StoreUnavailableError } from '../ground/unavailable.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartupError } from '@bezel/protocol'
import { COPIED_DATABASE_NAME, makePrivateFolder, SERVICE_DATABASE_NAME } from '@bezel/protocol/dataFolder'
import { every, type Repetition } from '../ground/every.ts'
import { createSequences } from './ids.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'
import { listLiveNodes, type LiveNode } from './nodeStore.ts'
import {
  createStepTables,
  isUsableVersion,
  mayChangeSchema,
  readVersion,
  recordStep,
  refuseNewer,
} from './schemaSteps.ts'
import type { Store, StoreWatch, Sql } from './sql.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens the store in the data folder and brings its schema up to date. Throws a `StartupError` when it can't be used.
 */
export async function openStore(dataFolder: string, watch?: StoreWatch): Promise<Store> {
  const file = join(dataFolder, SERVICE_DATABASE_NAME)
  refuseCopied(dataFolder)
  let store: Store | undefined
  try {
    makePrivateFolder(dataFolder)
    store = openSqlite(file, watch)
    await migrate(store)
    return store
  } catch (error) {
    await store?.close()
    throw dataFileError(error, file)
  }
}

/**
 * Opens the store of a service that may be running, for a command beside it. Changes no schema. Throws a `StartupError`
 * when there is no store, or not one that this version can use.
 */
export async function openExistingStore(dataFolder: string): Promise<Store> {
  const file = join(dataFolder, SERVICE_DATABASE_NAME)
  refuseNoStore(dataFolder)
  let store: Store | undefined
  try {
    store = openSqlite(file)
    await refuseOtherVersion(store, dataFolder)
    return store
  } catch (error) {
    await store?.close()
    throw dataFileError(error, file)
  }
}

/**
 * Throws a `StartupError` for a folder whose data was moved to PostgreSQL: whoever goes on without it begins with
 * nothing, and whoever goes on with the old data does everything again that was done since.
 */
export function refuseCopied(dataFolder: string): void {
  if (existsSync(join(dataFolder, SERVICE_DATABASE_NAME))) return
  if (!existsSync(join(dataFolder, COPIED_DATABASE_NAME))) return
  throw new StartupError(
    `The data in ${dataFolder} was copied to PostgreSQL (${COPIED_DATABASE_NAME} is what it was): set DATABASE_URL to that database, or BEZEL_DATA to another folder.`,
  )
}

/** Throws a `StartupError` for a folder without a store. */
export function refuseNoStore(dataFolder: string): void {
  refuseCopied(dataFolder)
  if (existsSync(join(dataFolder, SERVICE_DATABASE_NAME))) return
  throw new StartupError(`There is no data in ${dataFolder}: set BEZEL_DATA to the folder of the service.`)
}

/** Throws a `StartupError` when this version can't use the schema of a store as it is. */
export async function refuseOtherVersion(store: Store, place: string): Promise<void> {
  // The service may be running while steps wait for older ones.
  if (await canServe(store.read, { isDeferred: true })) return
  throw otherVersion(await readVersion(store.read), place)
}

/**
 * Returns true when this version can serve on the schema as it is. `isDeferred`: also while steps are missing that only
 * take something away.
 */
export async function canServe(sql: Sql, { isDeferred = false }: Pick<ContractWait, 'isDeferred'>): Promise<boolean> {
  const version = await readVersion(sql)
  const [isBegun, isBehind] = [version > 0, version < MIGRATIONS.length]
  if (isDeferred && isBegun && isBehind && lacksOnlyContracts(version, MIGRATIONS)) return true
  return isUsableVersion(sql, version, MIGRATIONS.length)
}

/** Throws a `StartupError` when the schema of a store is not the one of this version, with nothing added to it. */
export async function requireSameVersion(store: Store, place: string): Promise<void> {
  const version = await readVersion(store.read)
  if (version !== MIGRATIONS.length) throw otherVersion(version, place)
}

function otherVersion(version: number, place: string): StartupError {
  return new StartupError(
    `The data in ${place} has schema ${version} and this Bezel has ${MIGRATIONS.length}: use the version that the service runs.`,
  )
}

/** Turns a fault of the data file into a sentence; everything else is a bug and stays as it is. */
export function dataFileError(error: unknown, file: string): unknown {
  const { code, errcode, message } = error as { code?: string; errcode?: number; message: string }
  const isOutside = error instanceof StoreUnavailableError || errcode !== undefined || code?.startsWith('E')
  if (!isOutside) return error
  return new StartupError(`The data file ${file} can't be used (${message}): set BEZEL_DATA to another folder.`)
}

const SCHEMA = { name: 'schema' } as const

/** The wait before a step that takes away what older nodes use, while some of them are alive. */
export interface ContractWait {
  /** Called once with the sentence that says for whom it waits. */
  readonly onWait?: (sentence: string) => void
  /** Pause between two looks. Default 1 s. */
  readonly pauseMs?: number
  /** Looks after which it gives up. Default 60. */
  readonly maxLooks?: number
  /**
   * True for a service, which does not wait when all steps that are missing only take something away: it uses nothing
   * of that, and `finishMigrations` runs them later. So nodes can be replaced one by one. Default false.
   */
  readonly isDeferred?: boolean
}

const WAIT_PAUSE_MS = 1_000
const WAIT_MAX_LOOKS = 60

/**
 * Brings the schema up to date: runs each new migration once, in order, in a transaction of its own, which reads the
 * version first, because another node may have started at the same time. A step that takes something away waits until
 * no node is alive that does not know it. Returns false when steps were left for later. Throws a `StartupError` when
 * such nodes stay, and when a newer Bezel has taken away what this one uses.
 */
export async function migrate(
  store: Store,
  migrations: readonly Migration[] = MIGRATIONS,
  { onWait, pauseMs = WAIT_PAUSE_MS, maxLooks = WAIT_MAX_LOOKS, isDeferred = false }: ContractWait = {},
): Promise<boolean> {
  await store.transaction(SCHEMA, (sql) => createStepTables(sql, migrations))
  let [looks, isLeft] = [0, false]
  for (;;) {
    const { hasMore, older, isRest } = await lookAtStep(store, migrations)
    if (!hasMore) break
    if (older.length === 0) continue
    looks += 1
    if (looks === 1) onWait?.(waitSentence(older))
    isLeft = isDeferred && isRest
    if (isLeft) break
    if (looks >= maxLooks) throw new StartupError(stayedSentence(older))
    await sleep(pauseMs)
  }
  if (store.read.engine === 'postgres') await store.transaction(SCHEMA, createSequences)
  return !isLeft
}

/**
 * Runs the steps that were left for later, once no older node is alive. `undefined` when there are none, or when this
 * user may not run them.
 */
export async function finishMigrations(
  store: Store,
  onError: (error: unknown) => void,
  migrations: readonly Migration[] = MIGRATIONS,
  pauseMs = WAIT_PAUSE_MS,
): Promise<Repetition | undefined> {
  if ((await readVersion(store.read)) >= migrations.length) return undefined
  // Where users with fewer rights serve, bezel-server migrate runs them.
  if (!(await mayChangeSchema(store.read))) return undefined
  const rounds = every(
    pauseMs,
    async () => {
      if (await migrate(store, migrations, { isDeferred: true })) void rounds.close()
    },
    { onError },
  )
  return rounds
}

/**
 * Time for which a step waits for a table. Requests that come meanwhile wait behind it, and give up after four times as
 * long.
 */
const STEP_LOCK_MS = 300
/** Pause after which a step that did not get its table tries again, and the number of tries. */
const STEP_PAUSE_MS = 500
const STEP_TRIES = 120
/** Code of PostgreSQL for a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Runs the next migration, unless it has to wait; again while others use its tables. */
async function lookAtStep(store: Store, migrations: readonly Migration[]): Promise<MigrationLook> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.transaction(SCHEMA, (sql) => migrateOnce(sql, migrations))
    } catch (error) {
      if (!isLocked(error) || tries === STEP_TRIES) throw error
      await sleep(STEP_PAUSE_MS)
    }
  }
}

function isLocked(error: unknown): boolean {
  if (!(error instanceof StoreUnavailableError)) return false
  return (error.cause as { readonly code?: string } | undefined)?.code === LOCK_NOT_AVAILABLE
}

/** The outcome of a look at the next migration. */
interface MigrationLook {
  /** True when it has run, or has to wait. */
  readonly hasMore: boolean
  /** The nodes that it has to wait for. */
  readonly older: readonly LiveNode[]
  /** True when it and all after it only take something away. */
  readonly isRest: boolean
}

/** Runs the next migration, unless it has to wait. */
async function migrateOnce(sql: Sql, migrations: readonly Migration[]): Promise<MigrationLook> {
  await refuseNewer(sql, migrations.length)
  const current = await readVersion(sql)
  const migration = migrations[current]
  if (migration === undefined) return { hasMore: false, older: [], isRest: true }
  const number = current + 1
  const older = migration.kind === 'contract' ? await listOlderNodes(sql, number) : []
  const isRest = lacksOnlyContracts(current, migrations)
  if (older.length > 0) return { hasMore: true, older, isRest }
  if (sql.engine === 'postgres') await sql.run(`set local lock_timeout = ${STEP_LOCK_MS}`)
  for (const statement of migration.statements) await sql.run(statement)
  await recordStep(sql, number, migration.kind)
  return { hasMore: true, older: [], isRest }
}

/** True when a schema of this version lacks only steps that take something away. */
function lacksOnlyContracts(version: number, migrations: readonly Migration[]): boolean {
  return migrations.slice(version).every(({ kind }) => kind === 'contract')
}

/** Lists the nodes that are alive and do not know a step. SQLite has one process, which is the one that asks. */
async function listOlderNodes(sql: Sql, number: number): Promise<LiveNode[]> {
  if (sql.engine === 'sqlite') return []
  return (await listLiveNodes(sql)).filter(({ schema }) => schema < number)
}

const namesOf = (nodes: readonly LiveNode[]): string =>
  nodes.map(({ id, version }) => `${id} (version ${version})`).join(', ')

function waitSentence(nodes: readonly LiveNode[]): string {
  return `The schema is changed when no older service runs on the data: waiting for ${namesOf(nodes)} to stop.`
}

function stayedSentence(nodes: readonly LiveNode[]): string {
  return `Older services still run on the data: ${namesOf(nodes)}. This version takes away what they use: stop them, then start it again.`
}
