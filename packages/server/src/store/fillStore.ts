import type { Address, ChainSlug, FillHistoryEntry, Hex } from '@bezel/protocol'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import type { Sql, SqlValue } from './sql.ts'

/** The end of a page of fills: the place of its last entry. */
export interface FillCursor {
  readonly blockNumber: number
  readonly logIndex: number
}

/** A fill and its place. */
interface PlacedFill {
  readonly fill: FillHistoryEntry
  readonly cursor: FillCursor
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

/** Lists up to `limit` fills of a trader before `cursor`, newest first. */
export async function listFills(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly cursor: FillCursor | undefined
    readonly limit: number
  },
): Promise<PlacedFill[]> {
  const { blockNumber, logIndex } = of.cursor ?? NEWEST_FILL
  const params: SqlValue[] = [of.chain, of.trader, blockNumber, logIndex, of.limit]
  const rows = await sql.all<FillRow>(
    `select body, block_number, log_index from fills
     where chain = $1 and trader = $2 and (block_number < $3 or (block_number = $3 and log_index < $4))
     order by block_number desc, log_index desc limit $5`,
    ...params,
  )
  return rows.map(placedFill)
}

/** Lists up to `limit` fills of all traders in one pair before `cursor`, newest first. */
export async function listPairFills(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly pairIndex: number
    readonly cursor: FillCursor | undefined
    readonly limit: number
  },
): Promise<PlacedFill[]> {
  const { blockNumber, logIndex } = of.cursor ?? NEWEST_FILL
  const rows = await sql.all<FillRow>(
    `select body, block_number, log_index from fills
     where chain = $1 and pair_index = $2 and (block_number, log_index) < ($3, $4)
     order by block_number desc, log_index desc limit $5`,
    of.chain,
    of.pairIndex,
    blockNumber,
    logIndex,
    of.limit,
  )
  return rows.map(placedFill)
}

/** A cursor that lies after every fill. */
export const NEWEST_FILL: FillCursor = { blockNumber: Number.MAX_SAFE_INTEGER, logIndex: 0 }

interface FillRow {
  readonly body: string
  readonly block_number: bigint
  readonly log_index: bigint
}

function placedFill({ body, block_number, log_index }: FillRow): PlacedFill {
  return {
    fill: JSON.parse(body) as FillHistoryEntry,
    cursor: { blockNumber: Number(block_number), logIndex: Number(log_index) },
  }
}

export async function deleteFills(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<void> {
  await sql.run('delete from fills where chain = $1 and block_hash = $2', chain, blockHash)
}
