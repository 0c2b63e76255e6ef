import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** Timed-out orders that this sender brought to the chain and that no reclaim is under way for, oldest first, behind `after`. */
export async function listTimedOutRelayed(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly sender: Address; readonly nowMs: number; readonly after: OrderId | null; readonly limit: number },
): Promise<OrderId[]> {
  const rows = await sql.all<{ id: bigint }>(
    `select id from orders where chain = $1 and status = 'timed_out' and id > $5
     and exists (
       select 1 from attempts where attempts.order_id = orders.id and attempts.kind = 'open' and attempts.sender = $2
     ) and not exists (
       select 1 from attempts where attempts.order_id = orders.id and attempts.kind = 'reclaim' and attempts.expires_at > $3
     ) order by id limit $4`,
    chain,
    of.sender,
    of.nowMs,
    of.limit,
    BigInt(of.after ?? 0),
  )
  return rows.map(({ id }) => String(id) as OrderId)
}
