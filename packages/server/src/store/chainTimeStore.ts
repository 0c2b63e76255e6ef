import type { ChainSlug, Hex } from '@bezel/protocol'
import type { FollowedBlock } from './blockStore.ts'
import type { Sql } from './sql.ts'

/** The end of a chain's history as the store has it. */
export interface CommitPoint {
  /** Time of the last commit that changed an order or a position, epoch ms; 0 before the first. */
  readonly committedAtMs: number
  /** Number of that commit; 0 before the first. */
  readonly commits: number
  /** The last applied block; `undefined` while there is none. */
  readonly head: FollowedBlock | undefined
}

/** Reads where a chain stands, in one statement, because every write begins with it. */
export async function readCommitPoint(sql: Sql, chain: ChainSlug): Promise<CommitPoint> {
  const row = await sql.get<{
    committed_at: bigint | null
    commits: bigint | null
    number: bigint | null
    hash: string
    parent_hash: string
    timestamp: bigint
  }>(
    `select committed_at, commits, number, hash, parent_hash, timestamp from (select 1 as one) as point
     left join chain_times on chain_times.chain = $1
     left join blocks on blocks.chain = $1 and blocks.number = (select max(number) from blocks where chain = $1)`,
    chain,
  )
  const last = { committedAtMs: Number(row?.committed_at ?? 0n), commits: Number(row?.commits ?? 0n) }
  if (row === undefined || row.number === null) return { ...last, head: undefined }
  const { number, hash, parent_hash: parentHash, timestamp } = row
  const head = {
    number: Number(number),
    hash: hash as Hex,
    parentHash: parentHash as Hex,
    timestampMs: Number(timestamp),
  }
  return { ...last, head }
}
