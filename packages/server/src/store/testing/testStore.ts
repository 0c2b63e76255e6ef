import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { PRIVATE_FILE_MODE } from '@bezel/protocol/dataFolder'
import { Client } from 'pg'
import { migrate } from '../openStore.ts'
import { openPostgres } from '../postgres.ts'
import type { Sql, Store, StoreWatch } from '../sql.ts'
import { openSqlite } from '../sqlite.ts'
import { asAsked } from './twiceStore.ts'

/** A store for a test: a real file in a temporary folder, or a database, which `remove` deletes. */
export interface TestStore {
  readonly file: string
  /** The address for `openTestAddress` in another process. */
  readonly address: string
  store: Store
  /** Closes the store and opens it again, as a restart does. */
  reopen(): Promise<Store>
  /** Opens the same data a second time, as another process does. */
  openBeside(): Store
  /** Waits until nothing is asked of the store, for tests of work that nobody waits for. */
  quiet(): Promise<void>
  remove(): Promise<void>
}

/** Address of a PostgreSQL server on which the stores of tests are made, as `npm run test:postgres` sets it. */
const SERVER_URL = process.env['TEST_DATABASE_URL']

/** Options of a test that reads the query plans of SQLite, or changes its file. */
export const ON_SQLITE = { skip: SERVER_URL === undefined ? false : 'a test of SQLite' }

/** Options of a test of several nodes, or of transactions that wait for each other, which SQLite has none of. */
export const ON_POSTGRES = { skip: SERVER_URL === undefined ? 'a test of PostgreSQL' : false }

/** Connections of one test store. Small, because many tests run at the same time. */
const TEST_CONNECTIONS = 6
/** Bounds far above the need of any test. */
const TEST_BOUNDS = { statementMs: 60_000, idleTransactionMs: 60_000 }

/**
 * Opens an empty store: SQLite, or PostgreSQL in `npm run test:postgres`. Under `TRANSACTIONS_TWICE=1` it runs every
 * transaction twice.
 */
export function openTestStore(): TestStore {
  return openIn(SERVER_URL === undefined ? undefined : makeDatabase(SERVER_URL), asAsked)
}

/** The file of a store of SQLite that was only migrated. */
let migrated: Promise<Uint8Array> | undefined

/** Opens a store of the current schema. On SQLite it is a copy, because a campaign opens thousands. */
export async function openMigratedTestStore(): Promise<TestStore> {
  if (SERVER_URL === undefined) return openIn(undefined, asAsked, await (migrated ??= makeMigrated()))
  const opened = openTestStore()
  await migrate(opened.store)
  return opened
}

async function makeMigrated(): Promise<Uint8Array> {
  const made = openSqliteTestStore()
  await migrate(made.store)
  // The last connection that closes leaves everything in the one file.
  await made.store.close()
  const file = readFileSync(made.file)
  rmSync(dirname(made.file), { recursive: true, force: true })
  return file
}

/** Opens an empty store on SQLite, for tests of that engine, whose transactions run once in any case. */
export function openSqliteTestStore(): TestStore {
  return openIn(undefined, (store) => store)
}

/** Opens the data of a test store in another process. */
export function openTestAddress(address: string, watch?: StoreWatch): Store {
  if (!address.startsWith('postgresql:')) return openSqlite(address, watch)
  return openPostgres({ url: address, connections: TEST_CONNECTIONS, ...TEST_BOUNDS }, watch)
}

function openIn(database: TestDatabase | undefined, wrap: (store: Store) => Store, content?: Uint8Array): TestStore {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-store-'))
  const file = join(folder, 'bezel.db')
  if (content !== undefined) writeFileSync(file, content, { mode: PRIVATE_FILE_MODE })
  const asked = { count: 0 }
  const openBeside = (): Store => (database === undefined ? openSqlite(file) : openLater(database))
  const open = (): Store => counted(wrap(openBeside()), asked)
  const opened: TestStore = {
    file,
    address: database?.address ?? file,
    store: open(),
    async reopen() {
      await opened.store.close()
      opened.store = open()
      return opened.store
    },
    openBeside,
    async quiet() {
      do for (let turn = 0; turn < QUIET_TURNS; turn++) await new Promise(setImmediate)
      while (asked.count > 0)
    },
    async remove() {
      // A test may end before the last look of what it started.
      await opened.quiet()
      await opened.store.close()
      await database?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return opened
}

/** Turns of the event loop between two statements of work that nobody waits for. */
const QUIET_TURNS = 10

/** Counts in `asked` what the store has not answered yet. */
function counted(store: Store, asked: { count: number }): Store {
  const count = async <Result>(answer: Promise<Result>): Promise<Result> => {
    asked.count += 1
    return answer.finally(() => (asked.count -= 1))
  }
  const { read } = store
  return {
    read: {
      engine: read.engine,
      all: (text, ...params) => count(read.all(text, ...params)),
      get: (text, ...params) => count(read.get(text, ...params)),
      run: (text, ...params) => count(read.run(text, ...params)),
      write: (statement, ...params) => read.write(statement, ...params),
    },
    transaction: (scope, work) => count(store.transaction(scope, work)),
    close: () => store.close(),
  }
}

/** A database of a test. */
interface TestDatabase {
  readonly address: string
  /** Resolves when the database exists. */
  readonly made: Promise<void>
  drop(): Promise<void>
}

function makeDatabase(serverUrl: string): TestDatabase {
  const name = `test_${randomBytes(8).toString('hex')}`
  const ask = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  const address = new URL(serverUrl)
  address.pathname = `/${name}`
  return {
    address: address.href,
    made: ask(`create database ${name}`),
    drop: () => ask(`drop database ${name} with (force)`),
  }
}

/** Opens a store on a database that is being made. */
function openLater({ address, made }: TestDatabase): Store {
  const opening = made.then(() => openTestAddress(address))
  opening.catch(() => undefined)
  const read: Sql = {
    engine: 'postgres',
    all: async (text, ...params) => (await opening).read.all(text, ...params),
    get: async (text, ...params) => (await opening).read.get(text, ...params),
    run: async (text, ...params) => (await opening).read.run(text, ...params),
    write: () => {
      throw new Error('nothing is written outside of a transaction')
    },
  }
  return {
    read,
    transaction: async (scope, work) => (await opening).transaction(scope, work),
    close: async () => (await opening).close(),
  }
}
