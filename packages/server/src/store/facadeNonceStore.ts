import type { UsedNonce } from './usedNonce.ts'
import type { Address } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** What of the facade's nonces is still stored. */
export interface StoredFacadeNonces {
  readonly nonces: readonly UsedNonce[]
  /** Nonces up to this one were let go of, so nobody knows any more whether they were used. */
  readonly forgottenUpToMs: number
}

/** A burst of nonces is let go of in steps, so that no write waits for all of it. */
const PRUNED_AT_ONCE = 5_000

/** Those from `fromMs` on; older ones are refused by their age. */
export async function loadFacadeNonces(sql: Sql, fromMs: number): Promise<StoredFacadeNonces> {
  const rows = await sql.all<{ signer: string; nonce: bigint }>(
    'select signer, nonce from facade_nonces where nonce >= $1',
    fromMs,
  )
  const floor = await sql.get<{ up_to: bigint }>('select up_to from facade_nonce_floor')
  return {
    nonces: rows.map(({ signer, nonce }) => ({ signer: signer as Address, nonce: Number(nonce) })),
    forgottenUpToMs: Number(floor?.up_to ?? 0n),
  }
}

/** Whether it was free; then it is used up when the transaction commits. */
export async function insertFacadeNonce(sql: Sql, { signer, nonce }: UsedNonce): Promise<boolean> {
  const changed = await sql.run(
    `insert into facade_nonces (signer, nonce) select $1, cast($2 as bigint)
     where cast($2 as bigint) > (select up_to from facade_nonce_floor)
     on conflict (signer, nonce) do nothing`,
    signer,
    nonce,
  )
  return changed === 1
}

/** Lets go of nonces before `beforeMs`, and remembers that it did, because the clock of a machine can be set back. */
export async function pruneFacadeNonces(sql: Sql, beforeMs: number): Promise<void> {
  const oldest = `select nonce from facade_nonces where nonce < $1 order by nonce limit ${PRUNED_AT_ONCE}`
  const row = await sql.get<{ last: bigint | null }>(`select max(nonce) as last from (${oldest}) as oldest`, beforeMs)
  if (row === undefined || row.last === null) return
  await sql.run('delete from facade_nonces where nonce <= $1', row.last)
  await sql.run('update facade_nonce_floor set up_to = $1 where up_to < $1', row.last)
}
