import type { ChainSlug } from '@bezel/protocol'
import type { FollowedBlock } from '../store/blockStore.ts'
import { noteCommit, readCommitPoint } from '../store/chainTimeStore.ts'
import type { Sql, Transaction } from '../store/sql.ts'

/** The time of a commit and the block that it stands on. Neither runs backwards, in whatever process. */
export interface CommitTime {
  /** The later of the own clock and the chain's last commit, epoch ms. */
  readonly nowMs: number
  /** The last applied block as stored; `undefined` while there is none. */
  readonly head: FollowedBlock | undefined
}

/** The time of a chain's commits. */
export interface ChainTime {
  /** Returns the own clock, or the last commit that this process knows of, if that is later. */
  now(): number
  /** Reads the time of the commit under way, at the beginning of its transaction. */
  read(sql: Sql): Promise<CommitTime>
  /** Stores the time of a commit that changed something, as the last statement of its transaction. */
  keep(sql: Transaction, at: CommitTime): Promise<void>
}

export function createChainTime(chain: ChainSlug, clock: () => number): ChainTime {
  let lastCommitMs = 0
  const note = (committedAtMs: number): number => (lastCommitMs = Math.max(lastCommitMs, committedAtMs))
  return {
    now: () => Math.max(clock(), lastCommitMs),
    async read(sql) {
      const { committedAtMs, head } = await readCommitPoint(sql, chain)
      return { nowMs: Math.max(clock(), note(committedAtMs)), head }
    },
    async keep(sql, { nowMs }) {
      await noteCommit(sql, chain, nowMs)
      sql.afterCommit(() => void note(nowMs))
    },
  }
}
