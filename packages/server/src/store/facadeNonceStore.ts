import type { Address } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** A used nonce and its signer. */
export interface UsedNonce {
  readonly signer: Address
  readonly nonce: number
}

/** The stored nonces of the facade. */
interface StoredFacadeNonces {
  readonly nonces: readonly UsedNonce[]
  /** Greatest deleted nonce. For nonces up to this one, it is no longer known whether they were used. */
  readonly forgottenUpToMs: number
}

/** Maximum number of nonces deleted at once, so that no write waits for a large deletion. */
const PRUNED_AT_ONCE = 5_000

/** Reads the nonces from `fromMs` on; older ones are refused by their age. */
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

/**
 * Stores a nonce, which is used up when the transaction commits. Returns false when it was used or is too old to tell.
 */
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

/**
 * Deletes the nonces up to the floor, and raises it to those before `beforeMs`, which go with the next prune: a
 * machine's clock can be set back, and until the floor is committed another connection that does not see a nonce any
 * more would not see either that it is too old.
 */
export async function pruneFacadeNonces(sql: Sql, beforeMs: number): Promise<void> {
  sql.write('delete from facade_nonces where nonce <= (select up_to from facade_nonce_floor)')
  sql.write(
    `update facade_nonce_floor set up_to = coalesce((
      select max(nonce) from (
        select nonce from facade_nonces where nonce < $1 order by nonce limit ${PRUNED_AT_ONCE}
      ) as oldest
    ), up_to)`,
    beforeMs,
  )
}
