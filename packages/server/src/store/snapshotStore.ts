import type { Address, ChainSlug, Hex } from '@bezel/protocol'
import type { FollowedBlock } from './blockStore.ts'
import type { Sql } from './sql.ts'

/** A snapshot of a chain: everything that was open at one block. */
export interface StoredSnapshot {
  /** The block at which everything is read. */
  readonly block: FollowedBlock
  /** Number of entries in the Diamond's list of traders at that block. */
  readonly traderCount: number
  /** The first entry of that list that is not stored yet. */
  readonly nextTrader: number
  /** True once every entry is stored; the chain is followed from the next block on. */
  readonly isComplete: boolean
}

interface SnapshotRow {
  readonly number: bigint
  readonly hash: string
  readonly parent_hash: string
  readonly timestamp: bigint
  readonly trader_count: bigint
  readonly next_trader: bigint
  readonly is_complete: bigint
}

export async function readSnapshot(sql: Sql, chain: ChainSlug): Promise<StoredSnapshot | undefined> {
  const row = await sql.get<SnapshotRow>(
    `select number, hash, parent_hash, timestamp, trader_count, next_trader, is_complete
     from snapshots where chain = $1`,
    chain,
  )
  if (row === undefined) return undefined
  return {
    block: {
      number: Number(row.number),
      hash: row.hash as Hex,
      parentHash: row.parent_hash as Hex,
      timestampMs: Number(row.timestamp),
    },
    traderCount: Number(row.trader_count),
    nextTrader: Number(row.next_trader),
    isComplete: row.is_complete === 1n,
  }
}

/** Stores the progress of a chain's snapshot, in place of the one before. */
export async function saveSnapshot(sql: Sql, chain: ChainSlug, snapshot: StoredSnapshot): Promise<void> {
  const { block, traderCount, nextTrader, isComplete } = snapshot
  await sql.run(
    `insert into snapshots (chain, number, hash, parent_hash, timestamp, trader_count, next_trader, is_complete)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (chain) do update set number = excluded.number, hash = excluded.hash,
       parent_hash = excluded.parent_hash, timestamp = excluded.timestamp, trader_count = excluded.trader_count,
       next_trader = excluded.next_trader, is_complete = excluded.is_complete`,
    chain,
    block.number,
    block.hash,
    block.parentHash,
    block.timestampMs,
    traderCount,
    nextTrader,
    isComplete ? 1n : 0n,
  )
}

/** Forgets the snapshot that was taken at this block, with its unproven traders, because the block was undone. */
export async function deleteSnapshotAt(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<void> {
  const deleted = await sql.run('delete from snapshots where chain = $1 and hash = $2', chain, blockHash)
  if (deleted > 0) await sql.run('delete from unproven_traders where chain = $1', chain)
}

/** No log of a block has a higher index. What is found on the chain has, because it is the state after all logs. */
export const MAX_LOG_INDEX = 1_000_000_000

/**
 * Reads the highest log index that an event of this block has, of orders and positions alike; -1 when there is none.
 */
export async function readHighestLogIndex(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<number> {
  const row = await sql.get<{ highest: bigint | null }>(
    `select max(log_index) as highest from (
       select log_index from order_events where chain = $1 and block_hash = $2
       union all
       select log_index from position_events where chain = $1 and block_hash = $2
     ) as placed`,
    chain,
    blockHash,
  )
  return Number(row?.highest ?? -1n)
}

/** Lists the traders of whom something was found on the chain as of this block, other than by its logs. */
export async function listFoundTraders(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<Address[]> {
  const where = 'e.chain = $1 and e.block_hash = $2 and e.log_index > $3'
  const rows = await sql.all<{ trader: string }>(
    `select e.trader from order_events e where ${where}
     union
     select p.trader from position_events e join positions p on p.id = e.position_id where ${where}`,
    chain,
    blockHash,
    MAX_LOG_INDEX,
  )
  return rows.map(({ trader }) => trader as Address)
}

/** A trader of whom it is not proven that everything on the chain is known. */
export interface UnprovenTrader {
  readonly trader: Address
  /** The difference, in words for the operator. */
  readonly reason: string
}

/** Marks a trader as unproven. The first reason stands. */
export async function addUnproven(sql: Sql, chain: ChainSlug, { trader, reason }: UnprovenTrader): Promise<void> {
  await sql.run(
    `insert into unproven_traders (chain, trader, reason) values ($1, $2, $3) on conflict (chain, trader) do nothing`,
    chain,
    trader,
    reason,
  )
}

export async function deleteUnproven(sql: Sql, chain: ChainSlug, trader: Address): Promise<void> {
  await sql.run('delete from unproven_traders where chain = $1 and trader = $2', chain, trader)
}

export async function listUnproven(sql: Sql, chain: ChainSlug): Promise<UnprovenTrader[]> {
  const rows = await sql.all<{ trader: string; reason: string }>(
    'select trader, reason from unproven_traders where chain = $1 order by trader',
    chain,
  )
  return rows.map(({ trader, reason }) => ({ trader: trader as Address, reason }))
}

/** Lists the next `limit` traders after `after` who have something open on the chain, by address. */
export async function listActiveTraders(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly after: string; readonly limit: number },
): Promise<Address[]> {
  const rows = await sql.all<{ trader: string }>(
    `select trader from positions where chain = $1 and is_open = 1 and trader > $2
     union
     select trader from orders
       where chain = $1 and status in ('prepared', 'pending', 'open', 'timed_out') and trader > $2
     order by trader limit $3`,
    chain,
    of.after,
    of.limit,
  )
  return rows.map(({ trader }) => trader as Address)
}
