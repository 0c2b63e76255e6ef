import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { postgresTargetOf } from '../settings/dataConnections.ts'
import type { DatabaseSettings } from '../settings/dataPlace.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { POSTGRES_BOUNDS } from './postgresBounds.ts'
import { beginPostgres, type OpenTransaction } from './postgresTransaction.ts'
import {
  createPostgresConnections,
  isStalePlan,
  type PostgresConnection,
  type PostgresConnections,
} from './postgresConnections.ts'
import type { Scope } from './scope.ts'
import {
  textOf,
  type PointRead,
  type Sql,
  type SqlValue,
  type Store,
  type StoreWatch,
  type Transaction,
} from './sql.ts'
import { tellSafely } from './tellSafely.ts'
import { createTurns, type Claim } from './turns.ts'

/** Times that `work` runs when the database ends its transaction in favour of another. */
const MAX_RUNS = 5
/** Longest pause before `work` runs again, so that two that were in each other's way do not meet again. */
const MAX_RERUN_PAUSE_MS = 20
/** Share of the connections that only read. A transaction that reads beside itself must not wait for its own end. */
const READERS_SHARE = 0.4

/**
 * Opens a database of PostgreSQL as a store. Nothing is asked of the server before the first read or transaction.
 * Transactions lock their scope inside themselves, so that a pooler of transactions may stand between. Throws a
 * `StartupError` for an address that must not be used as it is.
 */
export function openPostgres(settings: DatabaseSettings, watch: StoreWatch = {}): Store {
  const readers = Math.max(1, Math.floor(settings.connections * READERS_SHARE))
  const target = postgresTargetOf(settings)
  const reading = createPostgresConnections({ target, size: readers })
  const writing = createPostgresConnections({ target, size: Math.max(1, settings.connections - readers) })
  const turns = createTurns()
  const under = new Set<Promise<unknown>>()
  const state = { isClosed: false }

  /** Waits until this process has no other transaction that `scope` excludes. Returns what ends the turn. */
  function waitForTurn(scope: Scope): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<() => void>()
    const giveUp = turns.wait(claimsOf(scope), resolve)
    return writing.whileAnswering(promise).catch((error: unknown) => {
      giveUp()
      throw error
    })
  }

  async function inTurn<Result>(scope: Scope, work: (sql: Transaction) => Promise<Result>): Promise<Result> {
    let sinceMs = performance.now()
    const onBegun = (): void => watch.onBegun?.(performance.now() - sinceMs)
    const endTurn = await waitForTurn(scope)
    // A transaction that was cut off keeps its turn until its session has ended and the outcome is known.
    let outcome: Promise<void> | undefined
    try {
      for (let runs = 1; ; runs++) {
        const run = await runOnce(writing, { settings, scope, onBegun }, work)
        if (run.kind === 'committed') {
          watch.onCommit?.(run.trips, scope)
          return run.result
        }
        if (run.kind === 'lost') {
          outcome = settle(run.transaction)
          throw run.error
        }
        if (runs >= MAX_RUNS || !isRerun(run.error)) throw run.error
        await sleep(Math.random() * MAX_RERUN_PAUSE_MS)
        sinceMs = performance.now()
      }
    } finally {
      if (outcome === undefined) endTurn()
      else void outcome.finally(endTurn)
    }
  }

  /** Finds out what became of a transaction that was cut off, and tells of it when it was kept. */
  async function settle(transaction: OpenTransaction): Promise<void> {
    while (!state.isClosed) {
      const status = await transaction.readOutcome(writing).catch(() => 'unknown' as const)
      if (status === 'committed') return transaction.tells.forEach(tellSafely)
      if (status === 'aborted') return
      await sleep(POSTGRES_BOUNDS.outcomePollMs, undefined, { ref: false })
    }
  }

  return {
    read: createReader(reading, watch),
    transaction(scope, work) {
      const result = inTurn(scope, work)
      const ended = result.catch(() => undefined).finally(() => under.delete(ended))
      under.add(ended)
      return result
    },
    async close() {
      await Promise.all(under)
      state.isClosed = true
      await Promise.all([reading.close(), writing.close()])
    },
  }
}

/** The end of one run of `work`: committed, rolled back, or cut off from the server, which may have committed. */
type Run<Result> =
  | { readonly kind: 'committed'; readonly result: Result; readonly trips: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'lost'; readonly error: unknown; readonly transaction: OpenTransaction }

async function runOnce<Result>(
  connections: PostgresConnections,
  {
    settings,
    scope,
    onBegun,
  }: { readonly settings: DatabaseSettings; readonly scope: Scope; readonly onBegun: () => void },
  work: (sql: Transaction) => Promise<Result>,
): Promise<Run<Result>> {
  let connection: PostgresConnection
  try {
    connection = await connections.acquire()
  } catch (error) {
    return { kind: 'failed', error }
  }
  connection.isPatient = isPatient(scope)
  const transaction = beginPostgres(connection, beginScript(settings, scope), onBegun)
  try {
    const result = await work(transaction.sql)
    await transaction.commit()
    connections.release(connection)
    transaction.tells.forEach(tellSafely)
    return { kind: 'committed', result, trips: transaction.trips() }
  } catch (thrown) {
    const error = transaction.firstError() ?? thrown
    try {
      await transaction.rollback()
      connections.release(connection)
      return { kind: 'failed', error }
    } catch {
      connections.drop(connection)
      return { kind: 'lost', error, transaction }
    }
  }
}

/** Returns the claims of a scope in this process: first what fewer wait for, so that a block waits for few. */
function claimsOf(scope: Scope): Claim[] {
  if ('name' in scope) return [{ key: `name ${scope.name}`, isShared: false }]
  const { chain, trader } = scope
  if (trader === undefined) return [{ key: `chain ${chain}`, isShared: false }]
  return [
    { key: `trader ${chain} ${trader}`, isShared: false },
    { key: `chain ${chain}`, isShared: true },
  ]
}

/**
 * Returns the statements that begin a transaction and take its locks, the chain's before the trader's. The last one
 * tells how to ask for its outcome. Bounds are set inside, because a pooler gives each transaction any session.
 */
function beginScript({ statementMs, idleTransactionMs }: DatabaseSettings, scope: Scope): string {
  const locks = claimsOf(scope)
    .toReversed()
    .map(({ key, isShared }) => `select pg_advisory_xact_lock${isShared ? '_shared' : ''}(${lockNumber(key)})`)
  return [
    'begin isolation level read committed read write',
    `set local lock_timeout = ${isPatient(scope) ? 0 : POSTGRES_BOUNDS.lockMs}`,
    `set local statement_timeout = ${isPatient(scope) ? 0 : statementMs}`,
    `set local idle_in_transaction_session_timeout = ${idleTransactionMs}`,
    ...locks,
    'select pg_current_xact_id()::text as xid, pg_backend_pid()::text as pid',
  ].join('; ')
}

/** Returns true for migrations, which take as long as they need and wait for those of another node. */
function isPatient(scope: Scope): boolean {
  return 'name' in scope && scope.name === 'schema'
}

/** Returns the number of a lock: 64 bits of a digest. Two keys with the same number would only wait for each other. */
function lockNumber(key: string): bigint {
  return createHash('sha256').update(`bezel ${key}`).digest().readBigInt64BE()
}

/** Codes after which running the same again helps: serialization failure and deadlock. */
const RERUN_CODES: ReadonlySet<string> = new Set(['40001', '40P01'])

function isRerun(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.code === undefined) return false
  return RERUN_CODES.has(error.code) || isStalePlan(error)
}

/** Time within which a connection fails that had died before it was used. */
const DEAD_AT_ONCE_MS = 300

/** Reads on a connection for each statement; once more when the connection turns out to be an old one that is dead. */
function createReader(connections: PostgresConnections, { onRead }: StoreWatch): Sql {
  async function query<Row>(text: string, params: readonly SqlValue[]) {
    for (let runs = 1; ; runs++) {
      const connection = await connections.acquire()
      const sinceMs = performance.now()
      onRead?.()
      try {
        const result = await connection.query<Row>(text, params)
        connections.release(connection)
        return result
      } catch (error) {
        if (error instanceof DatabaseError) connections.release(connection)
        else connections.drop(connection)
        const isDead = error instanceof StoreUnavailableError && performance.now() - sinceMs < DEAD_AT_ONCE_MS
        if (runs > 1 || !(isDead || isRerun(error))) throw error
      }
    }
  }

  return {
    engine: 'postgres',
    all: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      (await query<Row>(textOf(read), params)).rows as Row[],
    get: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) =>
      (await query<Row>(textOf(read), params)).rows[0] as Row | undefined,
    run: async (text, ...params) => (await query(text, params)).rowCount ?? 0,
    write: () => {
      throw new Error('nothing is written outside of a transaction')
    },
  }
}
