import type { ChainSlug } from '@bezel/protocol'
import type { Sql, Transaction } from './sql.ts'

/** A commit of a chain as stored. */
export interface StoredCommit {
  readonly number: number
  readonly body: string
}

/** Moves the number and the time of a chain on. A stored time stays that is later, by at most `maxHeldMs`. */
const NEXT_NUMBER = `insert into chain_times (chain, committed_at, commits) values ($1, $2, 1)
  on conflict (chain) do update set commits = chain_times.commits + 1,
    committed_at = case
      when chain_times.committed_at < excluded.committed_at or chain_times.committed_at > $3 then excluded.committed_at
      else chain_times.committed_at end
  returning commits as number`

/** A row that is there already is of the future, written by hand: without its replacement nobody could commit again. */
const NEXT_COMMIT = `with numbered as (${NEXT_NUMBER})
  insert into commits (chain, number, committed_at, body) select $1, number, $2, $4 from numbered
  on conflict (chain, number) do update set committed_at = excluded.committed_at, body = excluded.body returning number`

/**
 * Numbers the commit of this transaction: 1, 2, 3, ... per chain, without a gap, because the row of the chain is held
 * until the commit, and nothing is numbered that is rolled back. Whoever sees a number sees all before it. `body` is
 * stored on PostgreSQL, where other nodes read it; a file of SQLite belongs to one process. `tell` gets the number;
 * `undefined` when the commit stands and its answer was lost.
 */
export function numberCommit(
  sql: Transaction,
  of: { readonly chain: ChainSlug; readonly atMs: number; readonly maxHeldMs: number; readonly body: () => string },
  tell: (number: number | undefined) => void,
): void {
  const { chain, atMs, maxHeldMs, body } = of
  const params = [chain, atMs, atMs + maxHeldMs]
  const isShared = sql.engine === 'postgres'
  sql.atCommit<{ number: bigint }>(
    isShared ? NEXT_COMMIT : NEXT_NUMBER,
    isShared ? [...params, body()] : params,
    (row) => tell(row === undefined ? undefined : Number(row.number)),
  )
}

/** Reads the number of the last commit of every chain that has one. */
export async function readCommitNumbers(sql: Sql): Promise<ReadonlyMap<ChainSlug, number>> {
  const rows = await sql.all<{ chain: string; commits: bigint }>('select chain, commits from chain_times')
  return new Map(rows.map(({ chain, commits }) => [chain as ChainSlug, Number(commits)]))
}

/** Lists the kept commits of a chain after number `after`, in order. */
export async function listCommits(sql: Sql, chain: ChainSlug, after: number, limit: number): Promise<StoredCommit[]> {
  const rows = await sql.all<{ number: bigint; body: string }>(
    'select number, body from commits where chain = $1 and number > $2 order by number limit $3',
    chain,
    after,
    limit,
  )
  return rows.map(({ number, body }) => ({ number: Number(number), body }))
}

/** Deletes up to `limit` commits from before a time. Returns how many. */
export async function forgetCommits(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  return sql.run(
    `delete from commits where (chain, number) in (
      select chain, number from commits where committed_at < $1 order by committed_at limit $2
    )`,
    beforeMs,
    limit,
  )
}
