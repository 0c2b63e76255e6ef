import type { ChainSlug } from '@bezel/protocol'
import type { FollowedBlock } from '../store/blockStore.ts'
import { readCommitPoint } from '../store/chainTimeStore.ts'
import type { Sql } from '../store/sql.ts'

/** The time of a commit and the block that it stands on. Neither runs backwards, in whatever process. */
export interface CommitTime {
  /** The later of the own clock and the chain's last commit, epoch ms; the clock, when that is far ahead of it. */
  readonly nowMs: number
  /** Number of the chain's commit before it. */
  readonly after: number
  /** The last applied block as stored; `undefined` while there is none. */
  readonly head: FollowedBlock | undefined
}

/** The time of a chain's commits. */
export interface ChainTime {
  /** Returns the own clock, or the last commit that this process knows of, if that is later. */
  now(): number
  /** Reads the time of the commit under way, at the beginning of its transaction. */
  read(sql: Sql): Promise<CommitTime>
  /** Takes over the time of a commit, of this process or another. */
  note(committedAtMs: number): void
}

/**
 * The longest time for which the last commit is held against a clock that tells an earlier one. Clocks of machines
 * differ by less. A commit that is further ahead was made by a clock that was wrong, and does not count.
 */
export const MAX_HELD_MS = 600_000

/** Returns the later of the clock and the last commit, unless that was made by a wrong clock. */
function laterOf(clockMs: number, committedAtMs: number): number {
  return committedAtMs - clockMs > MAX_HELD_MS ? clockMs : Math.max(clockMs, committedAtMs)
}

export function createChainTime(chain: ChainSlug, clock: () => number): ChainTime {
  let lastCommitMs = 0
  const note = (committedAtMs: number): void => {
    lastCommitMs = laterOf(committedAtMs, lastCommitMs)
  }
  return {
    now: () => laterOf(clock(), lastCommitMs),
    async read(sql) {
      const { committedAtMs, commits, head } = await readCommitPoint(sql, chain)
      note(committedAtMs)
      return { nowMs: laterOf(clock(), committedAtMs), after: commits, head }
    },
    note,
  }
}
