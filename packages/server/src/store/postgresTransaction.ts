import { StoreUnavailableError } from '../ground/unavailable.ts'
import type { PostgresConnection, PostgresConnections } from './postgresConnections.ts'
import type { SqlValue, Transaction } from './sql.ts'

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

/**
 * Begins a transaction by `script`, whose last row has its id and its session. What `work` reads is sent along with it;
 * what it writes waits until the server has answered that the transaction began, because it would be kept at once if
 * that failed.
 */
export function beginPostgres(connection: PostgresConnection, script: string): OpenTransaction {
  const tells: (() => void)[] = []
  let isBegun = false
  let isOver = false
  let held = 0
  let firstError: unknown
  /** Trips whose answer has arrived; what is sent now belongs to the next one. */
  let answeredTrips = 0
  let identity: { readonly xid?: unknown; readonly pid?: unknown } = {}

  const failed = (error: unknown): never => {
    firstError ??= error
    throw firstError
  }
  async function trip<Result>(asked: Promise<Result>): Promise<Result> {
    const own = answeredTrips + 1
    return asked.finally(() => (answeredTrips = Math.max(answeredTrips, own)))
  }
  async function begin(): Promise<void> {
    try {
      const { rows } = await trip(connection.script(script))
      identity = rows[0] ?? {}
      isBegun = true
    } catch (error) {
      failed(error)
    }
  }
  const begun = begin()
  begun.catch(() => undefined)

  async function query<Row>(text: string, params: readonly SqlValue[]) {
    if (isOver) throw new Error(`a statement came after the end of its transaction: ${text}`)
    if (!isBegun && (held > 0 || !READS.test(text))) {
      held += 1
      await begun.finally(() => (held -= 1))
    }
    return trip(connection.query<Row>(text, params)).catch(failed)
  }

  return {
    sql: {
      engine: 'postgres',
      all: async <Row>(text: string, ...params: readonly SqlValue[]) => (await query<Row>(text, params)).rows as Row[],
      get: async <Row>(text: string, ...params: readonly SqlValue[]) =>
        (await query<Row>(text, params)).rows[0] as Row | undefined,
      run: async (text, ...params) => (await query(text, params)).rowCount ?? 0,
      afterCommit: (tell) => void tells.push(tell),
    },
    tells,
    firstError: () => firstError,
    trips: () => answeredTrips,
    async commit() {
      await begun
      isOver = true
      const { command } = await trip(connection.script('commit'))
      if (command !== 'COMMIT') failed(new Error('the database rolled the transaction back'))
    },
    async rollback() {
      isOver = true
      await connection.script('rollback')
    },
    readOutcome: (connections) => readOutcome(connections, identity),
  }
}

/** Ends the session of the transaction if it is still there, and reads the outcome. */
async function readOutcome(
  connections: PostgresConnections,
  { xid, pid }: { readonly xid?: unknown; readonly pid?: unknown },
): Promise<Outcome> {
  // Nothing is written before the transaction is known to have begun.
  if (xid === undefined) return 'aborted'
  const connection = await connections.acquire()
  try {
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

function outcomeOf(status: string | null): Outcome {
  if (status === 'in progress') return 'open'
  return status === 'committed' ? 'committed' : 'aborted'
}
