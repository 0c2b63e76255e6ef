import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** Key of a leverage setting: a trader and a market. */
interface LeverageKey {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly pairIndex: number
}

/** Reads the leverage that the trader chose, a whole number; `undefined` when it never chose one. */
export async function readLeverage(sql: Sql, { chain, trader, pairIndex }: LeverageKey): Promise<number | undefined> {
  const row = await sql.get<{ leverage: bigint }>(
    'select leverage from facade_leverages where chain = $1 and trader = $2 and pair_index = $3',
    chain,
    trader,
    pairIndex,
  )
  return row === undefined ? undefined : Number(row.leverage)
}

export async function saveLeverage(
  sql: Sql,
  { chain, trader, pairIndex }: LeverageKey,
  leverage: number,
): Promise<void> {
  await sql.run(
    `insert into facade_leverages (chain, trader, pair_index, leverage) values ($1, $2, $3, $4)
     on conflict (chain, trader, pair_index) do update set leverage = excluded.leverage`,
    chain,
    trader,
    pairIndex,
    leverage,
  )
}
