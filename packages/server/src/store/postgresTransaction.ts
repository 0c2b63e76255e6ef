import process from 'node:process'
import { DatabaseError, type QueryResult } from 'pg'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { endOfTransaction } from './endOfTransaction.ts'
import type { PostgresConnection, PostgresConnections } from './postgresConnections.ts'
import { createReadQueue } from './pointReads.ts'
import { createWriteQueue, type Bound } from './rows.ts'
import { textOf, type LastStatement, type PointRead, type SqlValue, type Transaction } from './sql.ts'

/** A transaction of PostgreSQL that was sent to the server. */
export interface OpenTransaction {
  readonly sql: Transaction
  /** Calls to make after the commit. */
  readonly tells: readonly (() => void)[]
  /** Returns the error of the first statement that failed, after which the server refuses all others. */
  firstError(): unknown
  /** Commits. Throws when the server rolled back instead. */
  commit(): Promise<void>
  rollback(): Promise<void>
  /** Returns the number of times that an answer had to be there before the next statement was sent. */
  trips(): number
  /** Asks on another connection what became of the transaction. */
  readOutcome(connections: PostgresConnections): Promise<Outcome>
}

/** State of a transaction whose answer was lost; `open` while its session has not ended. */
type Outcome = 'committed' | 'aborted' | 'open'

/** Statements that change nothing, also when they are run outside of a transaction. */
const READS = /^\s*select\b/i
/** Number of rows from which on they are sent without waiting for the next statement, so that the server works too. */
const MAX_QUEUED = 500
/** Length up to which an error shows the statement that failed. */
const SHOWN_TEXT = 120

/**
 * Begins a transaction by `script`, whose last row has its id and its session. What `work` reads is sent along with it;
 * what it writes waits until the server has answered that the transaction began, because it would be kept at once if
 * that failed. Later, what is written without waiting goes with the next statement, or with the commit. `onBegun` is
 * called once it has begun and holds its locks.
 */
export function beginPostgres(
  connection: PostgresConnection,
  script: string,
  onBegun: () => void = () => undefined,
): OpenTransaction {
  const tells: (() => void)[] = []
  const lasts: LastStatement[] = []
  const line = createLine(connection, script, onBegun)
  const writes = createWriteQueue()
  const reads = createReadQueue()

  /** Sends the reads by key that wait, before anything that was asked for after them. */
  function sendReads(): void {
    if (reads.size > 0) reads.send(async (text, params) => (await query<Record<string, unknown>>(text, params)).rows)
  }

  /** Reads by key, together with all that is asked for until nothing else can go on without an answer. */
  function readByKey<Row>(read: PointRead, params: readonly SqlValue[]): Promise<Row[]> {
    line.requireOpen(read.text)
    if (reads.size === 0) void Promise.resolve().then(() => process.nextTick(sendReads))
    return reads.add<Row>(read, params)
  }

  const query = <Row>(text: string, params: readonly SqlValue[]) => line.ask<Row>({ text, params }, writes.take())

  async function all<Row>(read: string | PointRead, params: readonly SqlValue[]): Promise<Row[]> {
    if (typeof read !== 'string') return readByKey<Row>(read, params)
    sendReads()
    return (await query<Row>(read, params)).rows as Row[]
  }

  return {
    sql: {
      engine: 'postgres',
      all: <Row>(read: string | PointRead, ...params: readonly SqlValue[]) => all<Row>(read, params),
      get: async <Row>(read: string | PointRead, ...params: readonly SqlValue[]) => (await all<Row>(read, params))[0],
      async run(text, ...params) {
        sendReads()
        return (await query(text, params)).rowCount ?? 0
      },
      write(statement, ...params) {
        line.requireOpen(textOf(statement))
        sendReads()
        writes.add(statement, params)
        if (line.isFree() && writes.size >= MAX_QUEUED) line.send(writes.take())
      },
      ...endOfTransaction(tells, lasts),
    },
    tells,
    firstError: line.firstError,
    trips: line.trips,
    commit() {
      sendReads()
      return line.commit(writes.take(), lasts)
    },
    rollback: line.rollback,
    readOutcome: (connections) => readOutcome(connections, connection.name, line.identity()),
  }
}

/** The session and the id of a transaction; empty until it is known to have begun. */
interface Identity {
  readonly xid?: unknown
  readonly pid?: unknown
}

/** The statements of one transaction, in the order in which they are sent. */
interface Line extends Pick<OpenTransaction, 'firstError' | 'trips' | 'rollback'> {
  /** Throws when the transaction has ended. */
  requireOpen(text: string): void
  /** Returns true when what is sent goes to the server at once. */
  isFree(): boolean
  /** Sends a statement, and others before it that nobody waits for. */
  ask<Row>(statement: Bound, before: readonly Bound[]): Promise<QueryResult<Row & object>>
  /** Sends statements that nobody waits for. The server refuses everything after one that failed, the commit too. */
  send(statements: readonly Bound[]): void
  /** Sends the last statements together with the commit, those of `lasts` behind the others. */
  commit(last: readonly Bound[], lasts: readonly LastStatement[]): Promise<void>
  identity(): Identity
}

function createLine(connection: PostgresConnection, script: string, onBegun: () => void): Line {
  let isBegun = false
  let isOver = false
  /** Number of statements that wait until the transaction has begun. */
  let held = 0
  let firstError: unknown
  /** Trips whose answer has arrived; what is sent now belongs to the next one. */
  let answeredTrips = 0
  let identity: Identity = {}

  const failed = (error: unknown): never => {
    firstError ??= error
    throw firstError
  }
  async function trip<Result>(asked: Promise<Result>): Promise<Result> {
    const own = answeredTrips + 1
    return asked.finally(() => (answeredTrips = Math.max(answeredTrips, own)))
  }
  async function begin(): Promise<void> {
    const { rows } = await trip(connection.script(script)).catch(failed)
    identity = rows[0] ?? {}
    isBegun = true
    onBegun()
  }
  const begun = begin()
  let lastHeld = begun
  begun.catch(() => undefined)

  const sendOne = <Row>({ text, params }: Bound) =>
    trip(connection.query<Row>(text, params)).catch(async (error: unknown) => {
      // A begin that failed tells why, and its answer may be read a moment after that to what was sent along with it.
      await begun
      return failed(withStatement(error, text))
    })

  const line: Line = {
    requireOpen(text) {
      if (isOver) throw new Error(`a statement came after the end of its transaction: ${text}`)
    },
    isFree: () => isBegun && held === 0,
    async ask(statement, before) {
      line.requireOpen(statement.text)
      if (held > 0 || (!isBegun && (before.length > 0 || !READS.test(statement.text)))) {
        held += 1
        lastHeld = begun.finally(() => (held -= 1))
        await lastHeld
      }
      line.send(before)
      return sendOne(statement)
    },
    send(statements) {
      for (const statement of statements) sendOne(statement).catch(() => undefined)
    },
    async commit(last, lasts) {
      isOver = true
      // Whoever waited for the beginning comes first.
      await lastHeld
      line.send(last)
      const answers = lasts.map(sendOne)
      for (const answer of answers) answer.catch(() => undefined)
      const { command } = await trip(connection.script('commit'))
      if (command !== 'COMMIT') failed(new Error('the database rolled the transaction back'))
      for (const [at, answer] of answers.entries()) lasts[at]!.row = (await answer).rows[0]
    },
    async rollback() {
      isOver = true
      await connection.script('rollback')
    },
    firstError: () => firstError,
    trips: () => answeredTrips,
    identity: () => identity,
  }
  return line
}

/** Adds to an error which statement failed, because it may be thrown by a later one. */
function withStatement(error: unknown, text: string): unknown {
  if (error instanceof DatabaseError) error.message += `, in: ${text.replaceAll(/\s+/g, ' ').slice(0, SHOWN_TEXT)}`
  return error
}

/** Ends the session of the transaction if it is still there, and reads the outcome. */
async function readOutcome(
  connections: PostgresConnections,
  session: string,
  { xid, pid }: Identity,
): Promise<Outcome> {
  const connection = await connections.acquire()
  try {
    if (xid === undefined) {
      const ended = await endSession(connection, session)
      connections.release(connection)
      return ended ? 'aborted' : 'open'
    }
    await connection.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where pid = $1::int and backend_xid::text = ($2::numeric % 4294967296)::text`,
      [String(pid), String(xid)],
    )
    const { rows } = await connection.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [
      String(xid),
    ])
    connections.release(connection)
    return outcomeOf(rows[0]?.status ?? null)
  } catch (error) {
    connections.drop(connection)
    if (error instanceof StoreUnavailableError) throw error
    // A database that has never seen this transaction is one that took over without it.
    return 'aborted'
  }
}

/**
 * Ends a session whose transaction is not known to have begun: nothing was written in it, but it may hold its locks.
 * Returns true once it is gone.
 */
async function endSession(connection: PostgresConnection, session: string): Promise<boolean> {
  const { rows } = await connection.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
    [session],
  )
  return rows.length === 0
}

function outcomeOf(status: string | null): Outcome {
  if (status === 'in progress') return 'open'
  return status === 'committed' ? 'committed' : 'aborted'
}
