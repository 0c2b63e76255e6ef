import type { Sql } from './sql.ts'

/** Everything that has a sequence of ids: orders with positions and fills, notices, entries of logs, logs. */
type IdSequence = keyof typeof SEQUENCES

/**
 * The statements that take ids. SQLite counts in a table, because it has one writer; they return the first of `$1`
 * ids. PostgreSQL has sequences, so that writers do not wait for each other; an id whose transaction fails is not used
 * again.
 */
const SEQUENCES = {
  orders: {
    count: 'update id_sequence set next_id = next_id + $1 returning next_id - $1 as id',
    sequence: 'order_ids',
    table: 'id_sequence',
    first: 'select next_id as id from id_sequence',
  },
  notices: {
    count: 'update notice_sequence set next_id = next_id + $1 returning next_id - $1 as id',
    sequence: 'notice_ids',
    table: 'notice_sequence',
    first: 'select next_id as id from notice_sequence',
  },
  audit: {
    count: 'update audit_ids set next_id = next_id + $1 returning next_id - $1 as id',
    sequence: 'audit_entry_ids',
    table: 'audit_ids',
    first: 'select next_id as id from audit_ids',
  },
  accountLogs: {
    count: 'select coalesce(max(id), 0) + $1 as id from account_logs',
    sequence: 'account_log_ids',
    table: 'account_logs',
    first: 'select coalesce(max(id), 0) + 1 as id from account_logs',
  },
} as const

/** The names of PostgreSQL's sequences. */
export const SEQUENCE_NAMES: readonly string[] = Object.values(SEQUENCES).map(({ sequence }) => sequence)

/** Most ids that a transaction of PostgreSQL takes ahead. */
const MAX_AHEAD = 64

/** Takes `count` ids in rising order. None is given twice. Ids of logs are taken one by one. */
export async function takeIds(sql: Sql, of: IdSequence, count: number): Promise<bigint[]> {
  const { count: text, sequence } = SEQUENCES[of]
  if (sql.engine === 'postgres') {
    const rows = await sql.all<{ id: bigint }>(
      `select nextval('${sequence}') as id from generate_series(1, $1::int)`,
      count,
    )
    return rows.map(({ id }) => id)
  }
  // SQLite takes a number for a binary fraction.
  const row = await sql.get<{ id: bigint }>(text, BigInt(count))
  return Array.from({ length: count }, (_, at) => row!.id + BigInt(at))
}

/** Hands out ids of orders within one transaction. */
export interface IdsInTransaction {
  /** Takes that many ids ahead, for an engine with round trips. */
  expect(count: number): Promise<void>
  next(): Promise<bigint>
  /** Ends the use, and gives back what SQLite has not counted yet. */
  settle(): Promise<void>
}

/**
 * Hands out ids for a transaction that does not know how many it needs. SQLite has no other writer before the end, so
 * it is asked for the first one and, at the end, for the number of the others. PostgreSQL is asked for several at a
 * time, and those that are left are not used.
 */
export function createIdsInTransaction(sql: Sql): IdsInTransaction {
  return sql.engine === 'postgres' ? takeAhead(sql) : countLater(sql)
}

function takeAhead(sql: Sql): IdsInTransaction {
  let ahead: bigint[] = []
  let size = 1
  return {
    async expect(count) {
      if (count > ahead.length) ahead.push(...(await takeIds(sql, 'orders', count - ahead.length)))
    },
    async next() {
      if (ahead.length === 0) {
        ahead = await takeIds(sql, 'orders', size)
        size = Math.min(size * 2, MAX_AHEAD)
      }
      return ahead.shift()!
    },
    async settle() {
      ahead = []
      size = 1
    },
  }
}

function countLater(sql: Sql): IdsInTransaction {
  let last: bigint | undefined
  let counted = 0
  return {
    expect: async () => undefined,
    async next() {
      if (last === undefined) [last] = await takeIds(sql, 'orders', 1)
      else {
        last += 1n
        counted += 1
      }
      return last!
    },
    async settle() {
      if (counted > 0) await takeIds(sql, 'orders', counted)
      last = undefined
      counted = 0
    },
  }
}

/** Leaves out `count` ids of everything whose ids clients know. */
export async function skipIds(sql: Sql, count: number): Promise<void> {
  for (const name of ['orders', 'notices', 'audit'] as const) {
    const { sequence, count: text } = SEQUENCES[name]
    if (sql.engine === 'postgres') await sql.all(`select setval('${sequence}', nextval('${sequence}') + $1)`, count)
    else await sql.get(text, BigInt(count))
  }
}

/** Creates the sequences of PostgreSQL that are missing, and moves each past the ids that are in use. */
export async function createSequences(sql: Sql): Promise<void> {
  for (const { sequence, table, first } of Object.values(SEQUENCES)) {
    const known = await sql.get<{ c: bigint }>('select count(to_regclass($1)) as c', table)
    if (known!.c === 0n) continue
    await sql.run(`create sequence if not exists ${sequence}`)
    await sql.all(
      `select setval('${sequence}', used.id, false) from (${first}) used, ${sequence} given
       where used.id > given.last_value`,
    )
  }
}
