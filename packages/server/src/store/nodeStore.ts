import { randomBytes } from 'node:crypto'
import { DAY_MS } from '@bezel/protocol'
import { every } from '../ground/every.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { databaseNow, readTime, type TimeReading } from './databaseClock.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { hasTable, refuseNewer } from './schemaSteps.ts'
import type { Sql, Store, Transaction } from './sql.ts'
import { NODES_TABLE } from './tables.ts'

/** A service that runs on the data. */
export interface LiveNode {
  /** Random for each process. */
  readonly id: string
  /** Version of its program. */
  readonly version: string
  /** Number of the newest step of the schema that it knows. */
  readonly schema: number
  /** Its roles, separated by commas. */
  readonly roles: string
  /** Start of the process by the clock of the database, epoch ms. */
  readonly startedAtMs: number
  /** Time since its last sign of life. */
  readonly silentMs: number
}

/** The row of this process. */
export interface OwnNode {
  readonly id: string
  /** Returns the number of nodes that answered requests at the last sign of life, at least 1. */
  servingNodes(): number
  /** Ends the signs of life and deletes the row. */
  close(): Promise<void>
}

/** Interval of the signs of life. */
const SIGN_MS = 1_000
/** Time without a sign of life after which a node counts as gone. */
const GONE_MS = 10_000
/** Time without a sign of life after which the row of a node is deleted. */
const KEEP_MS = DAY_MS
/** Roles of every node. */
const ALL_ROLES = 'api,follower,relayer,keeper'
/** Length of an id in bytes. */
const ID_BYTES = 8

/** Returns a new id for this process, which its row, its metrics and its log lines have. */
export function newNodeId(): string {
  return randomBytes(ID_BYTES).toString('hex')
}

/**
 * Enters this process into the table of nodes, with a sign of life each second until `close`. The first one is alone
 * with the migrations, so that none begins to take something away between the look at the schema and the entry. Throws
 * a `StartupError` when one has.
 */
export async function openNode(
  store: Store,
  of: {
    /** Default: a new one. */
    readonly id?: string
    readonly version: string
    /** Default: all roles. */
    readonly roles?: readonly string[]
    readonly onError: (error: unknown) => void
    readonly signMs?: number
    /** Told the time of the database with every sign of life. */
    readonly onTime?: ((reading: TimeReading) => void) | undefined
  },
): Promise<OwnNode> {
  const id = of.id ?? newNodeId()
  const known = MIGRATIONS.length
  const roles = of.roles?.join(',') ?? ALL_ROLES
  let servingNodes = 1
  const sign = async (sql: Transaction): Promise<void> => {
    writeSign(sql, { id, version: of.version, schema: known, roles })
    const [time, live] = await Promise.all([readTime(sql), listLiveNodes(sql)])
    // True whatever becomes of this transaction.
    of.onTime?.(time)
    const serving = live.filter((node) => node.roles.includes('api')).length
    sql.afterCommit(() => void (servingNodes = Math.max(1, serving)))
  }
  await store.transaction({ name: 'schema' }, async (sql) => {
    await refuseNewer(sql, known)
    await sign(sql)
  })
  // A file of SQLite belongs to one process, whose lock says that it lives: a write each second would be for nobody.
  const signMs = of.signMs ?? (store.read.engine === 'sqlite' ? undefined : SIGN_MS)
  const signs =
    signMs === undefined
      ? undefined
      : every(signMs, () => store.transaction({ name: 'nodes' }, sign), { onError: of.onError })
  return {
    id,
    servingNodes: () => servingNodes,
    async close() {
      await signs?.close()
      await store
        .transaction({ name: 'nodes' }, (sql) => sql.run(`delete from ${NODES_TABLE} where id = $1`, id))
        .catch((error: unknown) => {
          // Without the store nobody can be told; the row counts as gone by itself.
          if (!(error instanceof StoreUnavailableError)) throw error
        })
    },
  }
}

/** Writes a sign of life, and deletes the rows of nodes that have long been gone. */
function writeSign(sql: Sql, of: Pick<LiveNode, 'id' | 'version' | 'schema' | 'roles'>): void {
  const now = databaseNow(sql)
  sql.write(
    `insert into ${NODES_TABLE} (id, version, schema_number, roles, started_at, seen_at)
     values ($1, $2, $3, $4, ${now}, ${now}) on conflict (id) do update set seen_at = excluded.seen_at`,
    of.id,
    of.version,
    of.schema,
    of.roles,
  )
  sql.write(`delete from ${NODES_TABLE} where seen_at < ${now} - $1`, KEEP_MS)
}

interface NodeRow {
  readonly id: string
  readonly version: string
  readonly schema_number: bigint
  readonly roles: string
  readonly started_at: bigint
  readonly silent_ms: bigint
}

/** Lists the nodes that are alive, the oldest first. A store of before the table was made has none. */
export async function listLiveNodes(sql: Sql): Promise<LiveNode[]> {
  if (!(await hasTable(sql, NODES_TABLE))) return []
  const now = databaseNow(sql)
  const rows = await sql.all<NodeRow>(
    `select id, version, schema_number, roles, started_at, ${now} - seen_at as silent_ms from ${NODES_TABLE}
     where seen_at >= ${now} - $1 order by started_at, id`,
    GONE_MS,
  )
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    schema: Number(row.schema_number),
    roles: row.roles,
    startedAtMs: Number(row.started_at),
    silentMs: Math.max(0, Number(row.silent_ms)),
  }))
}
