import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** A client's own id of an order: unique for its trader, for ever. */
export interface CloidKey {
  readonly chain: ChainSlug
  readonly trader: Address
  /** In lower case. */
  readonly cloid: string
}

/** What a client's id stands for. */
export interface KeptCloid {
  /** What was asked for, in the form that equal orders share. */
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

/** Whether it was free. */
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

/** It is free again. */
export async function deleteCloid(sql: Sql, { chain, trader, cloid }: CloidKey): Promise<void> {
  await sql.run('delete from facade_cloids where chain = $1 and trader = $2 and cloid = $3', chain, trader, cloid)
}
