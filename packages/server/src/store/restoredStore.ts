import { skipIds } from './ids.ts'
import type { Sql } from './sql.ts'

/** Ids that are left out after a restore: more than were given out since any back-up that is put back. */
const SKIPPED_IDS = 1_000_000
/** Numbers of commits that are left out, so that what clients were told before lies behind all later ones. */
const SKIPPED_COMMITS = 1_000_000_000

/**
 * Makes a back-up safe to go on with, in one transaction. What happened after it is not known here, so everything of
 * that time counts as done: nothing that was signed until the floors is accepted, nothing that the relayer had not
 * settled is sent again (its nonce is burnt where the chain has not used it), and no id is given to something else.
 * Everything that is on the chain is found again by the follower, from the stored cursor on. Returns the number of
 * relayed actions that are not sent any more.
 */
export async function markRestored(
  sql: Sql,
  of: { readonly nowMs: number; readonly nonceFloorMs: number; readonly facadeFloorMs: number },
): Promise<number> {
  const raise = (table: string, upToMs: number): Promise<number> =>
    sql.run(`update ${table} set up_to = $1 where up_to < $1`, upToMs)
  await raise('nonce_floor', of.nonceFloorMs)
  await raise('facade_nonce_floor', of.facadeFloorMs)
  // A Redis of before is not followed any more, so that the floor holds for reads too; the copy has a name of its own.
  await sql.run(`update nonce_keeper set deployment = '', epoch = ''`)
  await skipIds(sql, SKIPPED_IDS)
  await sql.run('update chain_times set commits = commits + $1', SKIPPED_COMMITS)
  await sql.run('delete from commits')
  return sql.run(
    `update relay_entries set expires_at = $1 where state = 'live' and attempt_id is not null and expires_at > $1`,
    of.nowMs,
  )
}
