import type { Address, ChainSlug } from '@bezel/protocol'
import { CLAIM_KEPT_MS } from './claimStore.ts'
import type { Sql } from './sql.ts'

/**
 * The signer of structs each of which needs a later timestamp than the one before: a trader about an agent, about the
 * agent of a name on the facade, or about its API keys (no agent), or an agent for itself (no trader).
 */
export interface StructSigner {
  readonly chain: ChainSlug
  readonly agent: Address | `name ${string}` | ''
  readonly trader: Address | ''
}

/**
 * Time for which the timestamp of a claim that is gone is kept: four times as long as a struct is accepted after it was
 * signed. Timestamps of agents and keys that were in force are kept for ever.
 */
const KEPT_MS = 120_000

/** The stored `is_kept`: how long a row stays. A displaced claim is kept as long as a claim, others for `KEPT_MS`. */
const SHORTLY = 0n
const FOR_EVER = 1n
const DISPLACED = 2n

/** Rows that each note prunes: more than the two it adds, so that the table shrinks again after any burst. */
const PRUNED_PER_NOTE = 16

/**
 * Reads the timestamp of the newest struct that was accepted; 0 when there is none. The agents and keys that are stored
 * have their own, so that a claim needs no row here. Below the floor of nonces it is not known what was accepted: after
 * a back-up was put back, the floor is above everything that was.
 */
export async function readSignedAtMs(sql: Sql, { chain, agent, trader }: StructSigner): Promise<number> {
  const row = await sql.get<{ signed_at: bigint | null }>(
    `select max(signed_at) as signed_at from (
       select signed_at from accepted_structs where chain = $1 and agent = $2 and trader = $3
       union all
       select signed_at from agents
       where chain = $1 and agent = $2 and (trader = $3 or ($3 = '' and agent_signed = 1 and revoked = 0))
       union all
       select signed_at from api_keys where chain = $1 and trader = $3 and $2 = ''
       union all
       select up_to from nonce_floor
     ) as signed`,
    chain,
    agent,
    trader,
  )
  return Number(row?.signed_at ?? 0n)
}

/**
 * Reads when a trader first claimed an agent that another trader's delegation then took from it; 0 when that never
 * happened.
 */
export async function readClaimedAtMs(sql: Sql, { chain, agent, trader }: StructSigner): Promise<number> {
  const row = await sql.get<{ claimed_at: bigint }>(
    'select claimed_at from accepted_structs where chain = $1 and agent = $2 and trader = $3',
    chain,
    agent,
    trader,
  )
  return Number(row?.claimed_at ?? 0n)
}

/** Notes when a trader claimed an agent that is taken from it, and keeps that as long as the claim would have lived. */
export async function noteDisplaced(
  sql: Sql,
  of: StructSigner & { readonly signedAtMs: number; readonly createdAtMs: number },
): Promise<void> {
  await sql.run(
    `insert into accepted_structs (chain, agent, trader, signed_at, is_kept, claimed_at) values ($1, $2, $3, $4, $6, $5)
     on conflict (chain, agent, trader) do update set claimed_at = $5,
       is_kept = case when accepted_structs.is_kept = 1 then 1 else $6 end`,
    of.chain,
    of.agent,
    of.trader,
    of.signedAtMs,
    of.createdAtMs,
    DISPLACED,
  )
}

/**
 * Counts the agents, up to a number and without the one named, about which the trader signed structs whose timestamps
 * are kept for ever: those that are proven, and those that were and serve another trader by now.
 */
export async function countKeptAgents(sql: Sql, of: StructSigner, upTo: number): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    `select count(*) as count from (
       select 1 from accepted_structs
       where chain = $1 and trader = $2 and is_kept = 1 and agent <> $3 and agent <> '' limit $4
     ) as kept`,
    of.chain,
    of.trader,
    of.agent,
    upTo,
  )
  return Number(row?.count ?? 0n)
}

/**
 * Notes an accepted struct, unless it is too old to be sent again. The stored timestamp never goes back, and one that
 * is kept for ever stays so.
 */
export async function noteSignedAt(
  sql: Sql,
  { chain, agent, trader }: StructSigner,
  of: { readonly signedAtMs: number; readonly isKept: boolean; readonly nowMs: number },
): Promise<void> {
  await prune(sql, SHORTLY, of.nowMs - KEPT_MS)
  await prune(sql, DISPLACED, of.nowMs - CLAIM_KEPT_MS)
  if (!of.isKept && of.signedAtMs < of.nowMs - KEPT_MS) return
  await sql.run(
    `insert into accepted_structs (chain, agent, trader, signed_at, is_kept) values ($1, $2, $3, $4, $5)
     on conflict (chain, agent, trader) do update set
       signed_at = case when accepted_structs.signed_at > $4 then accepted_structs.signed_at else $4 end,
       is_kept = case when $5 = 1 then 1 else accepted_structs.is_kept end`,
    chain,
    agent,
    trader,
    of.signedAtMs,
    of.isKept ? FOR_EVER : SHORTLY,
  )
}

/** Deletes rows of a kind that are of before a moment, the oldest first. */
async function prune(sql: Sql, isKept: bigint, beforeMs: number): Promise<void> {
  await sql.run(
    `delete from accepted_structs where is_kept = $2 and signed_at < $1 and signed_at <= (
      select max(signed_at) from (
        select signed_at from accepted_structs where is_kept = $2 order by signed_at limit ${PRUNED_PER_NOTE}
      ) as oldest
    )`,
    beforeMs,
    isKept,
  )
}
