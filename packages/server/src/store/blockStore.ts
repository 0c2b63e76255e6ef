import type { ChainSlug, Hex } from '@bezel/protocol'
import { insertInto } from './rows.ts'
import type { Sql } from './sql.ts'

/** An applied block. */
export interface FollowedBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestampMs: number
}

interface BlockRow {
  readonly number: bigint
  readonly hash: string
  readonly parent_hash: string
  readonly timestamp: bigint
}

const INSERT_BLOCK = insertInto('blocks', ['chain', 'number', 'hash', 'parent_hash', 'timestamp'])

export async function insertBlock(sql: Sql, chain: ChainSlug, block: FollowedBlock): Promise<void> {
  sql.write(INSERT_BLOCK, chain, block.number, block.hash, block.parentHash, block.timestampMs)
}

/** Stores a block between those that are kept, so that it can be undone with them. One before all of them is final. */
export async function insertKeptBlock(sql: Sql, chain: ChainSlug, block: FollowedBlock): Promise<void> {
  const older = await sql.get('select 1 from blocks where chain = $1 and number < $2 limit 1', chain, block.number)
  if (older !== undefined) await insertBlock(sql, chain, block)
}

/** Reads the cursor: the last applied block. */
export async function readLastBlock(sql: Sql, chain: ChainSlug): Promise<FollowedBlock | undefined> {
  const row = await sql.get<BlockRow>(
    'select number, hash, parent_hash, timestamp from blocks where chain = $1 order by number desc limit 1',
    chain,
  )
  return row === undefined ? undefined : toBlock(row)
}

/** Finds an applied block by number; `undefined` when it is not applied or no longer kept. */
export async function findBlock(sql: Sql, chain: ChainSlug, number: number): Promise<FollowedBlock | undefined> {
  const row = await sql.get<BlockRow>(
    'select number, hash, parent_hash, timestamp from blocks where chain = $1 and number = $2',
    chain,
    number,
  )
  return row === undefined ? undefined : toBlock(row)
}

/** Lists all kept blocks, newest first. */
export async function listBlocks(sql: Sql, chain: ChainSlug): Promise<FollowedBlock[]> {
  const rows = await sql.all<BlockRow>(
    'select number, hash, parent_hash, timestamp from blocks where chain = $1 order by number desc',
    chain,
  )
  return rows.map(toBlock)
}

/** Deletes a block, if it is the one that is stored under its number. */
export async function deleteBlock(
  sql: Sql,
  chain: ChainSlug,
  { number, hash }: Pick<FollowedBlock, 'number' | 'hash'>,
): Promise<void> {
  sql.write('delete from blocks where chain = $1 and number = $2 and hash = $3', chain, number, hash)
}

/**
 * Deletes the blocks that are never undone any more, given the number of the last final one. The newest of them is
 * kept, because what is undone is undone down to it; not every block is stored, so its number may be lower.
 */
export async function forgetFinalBlocks(sql: Sql, chain: ChainSlug, lastFinal: number): Promise<void> {
  sql.write(
    `delete from blocks where chain = $1 and number < (
       select max(number) from blocks where chain = $1 and number <= $2)`,
    chain,
    lastFinal,
  )
}

function toBlock(row: BlockRow): FollowedBlock {
  return {
    number: Number(row.number),
    hash: row.hash as Hex,
    parentHash: row.parent_hash as Hex,
    timestampMs: Number(row.timestamp),
  }
}
