import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** By trader: the agent that the chain was last seen to let trade for it. */
export async function loadDelegations(sql: Sql, chain: ChainSlug): Promise<Map<Address, Address>> {
  const rows = await sql.all<{ trader: string; agent: string }>(
    'select trader, agent from seen_delegations where chain = $1',
    chain,
  )
  return new Map(rows.map(({ trader, agent }) => [trader as Address, agent as Address]))
}

/** `undefined`: no agent of this deployment. */
export async function saveDelegation(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly trader: Address; readonly agent: Address | undefined },
): Promise<void> {
  const { chain, trader, agent } = of
  if (agent === undefined) {
    await sql.run('delete from seen_delegations where chain = $1 and trader = $2', chain, trader)
    return
  }
  await sql.run(
    `insert into seen_delegations (chain, trader, agent) values ($1, $2, $3)
     on conflict (chain, trader) do update set agent = $3`,
    chain,
    trader,
    agent,
  )
}
