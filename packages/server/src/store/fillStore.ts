import type { Address, ChainSlug, FillHistoryEntry, Hex } from '@bezel/protocol'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import type { Sql, SqlValue } from './sql.ts'

/** Where a page of fills ends: the place of its last entry. */
export interface FillCursor {
  readonly blockNumber: number
  readonly logIndex: number
}

export async function insertFill(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly pairIndex: number
    readonly place: ChainPlace
    readonly fill: FillHistoryEntry
  },
): Promise<void> {
  await sql.run(
    `insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    BigInt(of.fill.id),
    of.chain,
    of.trader,
    of.place.blockHash,
    of.place.blockNumber,
    of.place.logIndex,
    of.pairIndex,
    JSON.stringify(of.fill),
  )
}

/** Newest first, `limit` of those before `cursor`. */
export async function listFills(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly cursor: FillCursor | undefined
    readonly limit: number
  },
): Promise<{ readonly fill: FillHistoryEntry; readonly cursor: FillCursor }[]> {
  const { blockNumber, logIndex } = of.cursor ?? { blockNumber: Number.MAX_SAFE_INTEGER, logIndex: 0 }
  const params: SqlValue[] = [of.chain, of.trader, blockNumber, logIndex, of.limit]
  const rows = await sql.all<{ body: string; block_number: bigint; log_index: bigint }>(
    `select body, block_number, log_index from fills
     where chain = $1 and trader = $2 and (block_number < $3 or (block_number = $3 and log_index < $4))
     order by block_number desc, log_index desc limit $5`,
    ...params,
  )
  return rows.map((row) => ({
    fill: JSON.parse(row.body) as FillHistoryEntry,
    cursor: { blockNumber: Number(row.block_number), logIndex: Number(row.log_index) },
  }))
}

export async function deleteFills(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<void> {
  await sql.run('delete from fills where chain = $1 and block_hash = $2', chain, blockHash)
}
