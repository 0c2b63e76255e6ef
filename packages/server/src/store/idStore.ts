import type { OrderId } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** The next id of the deployment's one sequence, for an order, a position or a fill. Never given twice. */
export async function nextId(sql: Sql): Promise<OrderId> {
  const row = await sql.get<{ id: bigint }>('update id_sequence set next_id = next_id + 1 returning next_id - 1 as id')
  return String(row!.id) as OrderId
}

/** Uses up as many more, for a transaction that counted on by itself after its first. */
export async function useUpIds(sql: Sql, count: number): Promise<void> {
  await sql.run('update id_sequence set next_id = next_id + $1', count)
}
