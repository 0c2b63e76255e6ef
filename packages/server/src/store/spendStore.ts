import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** 1e18 USD that an agent's orders count on a UTC day (days since the epoch). */
export async function spentUsd(sql: Sql, chain: ChainSlug, agent: Address, day: number): Promise<bigint> {
  const row = await sql.get<{ spent_usd: string }>(
    'select spent_usd from spend where chain = $1 and agent = $2 and day = $3',
    chain,
    agent,
    day,
  )
  return BigInt(row?.spent_usd ?? 0)
}

/** Adds to the day, or gives back what is negative. Inside the transaction that changes the order, so that the two never differ. */
export async function addSpend(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly agent: Address; readonly day: number; readonly usd: bigint },
): Promise<void> {
  const total = (await spentUsd(sql, of.chain, of.agent, of.day)) + of.usd
  await sql.run(
    `insert into spend (chain, agent, day, spent_usd) values ($1, $2, $3, $4)
     on conflict (chain, agent, day) do update set spent_usd = $4`,
    of.chain,
    of.agent,
    of.day,
    String(total),
  )
}
