import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** A client order id (cloid), unique per trader and chain, also after the order has ended. */
export interface CloidKey {
  readonly chain: ChainSlug
  readonly trader: Address
  /** The cloid in lower case. */
  readonly cloid: string
}

/** The order that a cloid stands for. */
interface KeptCloid {
  /** The requested order in a canonical form, for comparison. */
  readonly asked: string
  readonly oid: OrderId
}

export async function readCloid(sql: Sql, { chain, trader, cloid }: CloidKey): Promise<KeptCloid | undefined> {
  const row = await sql.get<{ asked: string; oid: bigint }>(
    'select asked, oid from facade_cloids where chain = $1 and trader = $2 and cloid = $3',
    chain,
    trader,
    cloid,
  )
  return row && { asked: row.asked, oid: String(row.oid) as OrderId }
}

/** Stores a cloid. Returns false when it was taken already. */
export async function insertCloid(
  sql: Sql,
  { chain, trader, cloid }: CloidKey,
  { asked, oid }: KeptCloid,
): Promise<boolean> {
  const inserted = await sql.run(
    `insert into facade_cloids (chain, trader, cloid, asked, oid) values ($1, $2, $3, $4, $5)
     on conflict (chain, trader, cloid) do nothing`,
    chain,
    trader,
    cloid,
    asked,
    BigInt(oid),
  )
  return inserted === 1
}

/** Deletes a cloid, so that it is free again. */
export async function deleteCloid(sql: Sql, { chain, trader, cloid }: CloidKey): Promise<void> {
  await sql.run('delete from facade_cloids where chain = $1 and trader = $2 and cloid = $3', chain, trader, cloid)
}
