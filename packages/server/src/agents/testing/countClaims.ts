import type { Sql } from '../../store/sql.ts'

/** Counts the claims that are stored. */
export async function countClaims(sql: Sql): Promise<number> {
  const row = await sql.get<{ c: bigint }>('select count(*) as c from claims')
  return Number(row!.c)
}
