import type { ChainSlug, Hex, OrderId } from '@bezel/protocol'
import { MAX_LOG_INDEX } from './snapshotStore.ts'
import type { Sql } from './sql.ts'

/** A range of blocks that are read and changed again. */
export interface Reindex {
  readonly id: number
  readonly chain: ChainSlug
  readonly fromBlock: number
  readonly toBlock: number
  /** The first block that was not read again yet; after `toBlock` once all were. */
  readonly nextBlock: number
  /** Number of blocks that changed something. */
  readonly changed: number
}

interface ReindexRow {
  readonly id: bigint
  readonly chain: string
  readonly from_block: bigint
  readonly to_block: bigint
  readonly next_block: bigint
  readonly changed: bigint
}

export async function insertReindex(
  sql: Sql,
  { chain, fromBlock, toBlock }: Pick<Reindex, 'chain' | 'fromBlock' | 'toBlock'>,
): Promise<void> {
  await sql.run(
    `insert into reindexes (id, chain, from_block, to_block, next_block, changed)
     values ((select coalesce(max(id), 0) + 1 from reindexes), $1, $2, $3, $2, 0)`,
    chain,
    fromBlock,
    toBlock,
  )
}

/** Lists the ranges of all chains, in the order in which they were asked for. */
export async function listReindexes(sql: Sql): Promise<Reindex[]> {
  const rows = await sql.all<ReindexRow>(
    'select id, chain, from_block, to_block, next_block, changed from reindexes order by id',
  )
  return rows.map((row) => ({
    id: Number(row.id),
    chain: row.chain as ChainSlug,
    fromBlock: Number(row.from_block),
    toBlock: Number(row.to_block),
    nextBlock: Number(row.next_block),
    changed: Number(row.changed),
  }))
}

/** Notes that the blocks before `nextBlock` were read again, and how many more of them changed something. */
export async function moveReindex(
  sql: Sql,
  id: number,
  { nextBlock, changed }: { readonly nextBlock: number; readonly changed: number },
): Promise<void> {
  await sql.run(
    'update reindexes set next_block = $2, changed = changed + $3 where id = $1',
    BigInt(id),
    nextBlock,
    changed,
  )
}

/**
 * Deletes what the logs of a block told of orders, positions and fills, and returns the orders and positions. What has
 * no log stays: transactions that failed, and what was found on the chain.
 */
export async function deleteLogged(
  sql: Sql,
  chain: ChainSlug,
  blockHash: Hex,
): Promise<{ readonly orderIds: ReadonlySet<OrderId>; readonly positionIds: ReadonlySet<OrderId> }> {
  const where = 'chain = $1 and block_hash = $2 and log_index between 0 and $3'
  const deleted = async (from: string): Promise<ReadonlySet<OrderId>> => {
    const rows = await sql.all<{ id: bigint }>(`delete from ${from}`, chain, blockHash, MAX_LOG_INDEX)
    return new Set(rows.map(({ id }) => String(id) as OrderId))
  }
  await deleted(`fills where ${where} returning id`)
  return {
    orderIds: await deleted(`order_events where ${where} returning order_id as id`),
    positionIds: await deleted(`position_events where ${where} returning position_id as id`),
  }
}
