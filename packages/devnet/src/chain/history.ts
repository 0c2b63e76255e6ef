import type { Hex } from 'viem'
import type { ClockState } from './chainClock.ts'

/**
 * A call of a state setter such as hardhat_setBalance. It is no transaction, so it is repeated when its block is mined
 * again.
 */
export interface Cheat {
  method: string
  params: readonly unknown[]
}

/** Everything needed to mine the same block again, hash included. */
export interface BlockRecord {
  number: number
  hash: Hex
  timestampS: number
  prevRandao: Hex
  /** State setters between the previous block and this one. */
  cheats: readonly Cheat[]
  rawTransactions: readonly Hex[]
}

/** The part of a caller's evm_snapshot that EDR does not restore. */
export interface UserSnapshot {
  id: Hex
  pending: readonly Hex[]
  cheats: readonly Cheat[]
  clock: ClockState
}

/** A point to which EDR can be reverted: one of our checkpoints, or a caller's snapshot. */
export interface RestorePoint {
  snapshotId: Hex
  height: number
  user: UserSnapshot | undefined
}

/** The recent blocks and the restore points, both oldest first. A later point never has a lower height. */
export interface History {
  records: BlockRecord[]
  points: RestorePoint[]
  /** State setters since the last block. */
  cheats: Cheat[]
}

/** Deepest reorg that is always possible on a chain of that length. */
export const MAX_REORG_DEPTH = 128

// EDR never frees a snapshot, and each holds a table as large as the mempool once was (70 KB after 100 waiting
// transactions). So a checkpoint is taken once per this many blocks or transactions, and a rewind mines the blocks
// after it again.
const CHECKPOINT_BLOCKS = 64

const CHECKPOINT_TRANSACTIONS = 1_000

/** Number of kept user snapshots. Beyond it the oldest is forgotten. */
const MAX_USER_SNAPSHOTS = 1_000

/** Creates an empty history. */
export function createHistory(): History {
  return { records: [], points: [], cheats: [] }
}

/** Returns true when a checkpoint is due before the next block. */
export function checkpointDue(history: History): boolean {
  const last = history.points.findLast((point) => point.user === undefined)
  if (last === undefined || history.records.length === 0) return true
  const since = history.records.filter((record) => record.number > last.height)
  const transactions = since.reduce((sum, record) => sum + record.rawTransactions.length, 0)
  return since.length >= CHECKPOINT_BLOCKS || transactions >= CHECKPOINT_TRANSACTIONS
}

/** Appends a mined block with the setters before it, and drops what no reorg can reach any more. */
export function addRecord(history: History, record: Omit<BlockRecord, 'cheats'>): void {
  history.records.push({ ...record, cheats: history.cheats })
  history.cheats = []
  const reach = record.number - MAX_REORG_DEPTH
  const base = history.points.findLast((point) => point.user === undefined && point.height <= reach)
  if (base === undefined || history.records[0]?.number === base.height + 1) return
  history.records = history.records.filter(({ number }) => number > base.height)
  history.points = history.points.filter((point) => point.user !== undefined || point.height >= base.height)
}

/** Appends a restore point. Beyond the limit, the oldest user snapshot is forgotten. */
export function addPoint(history: History, point: RestorePoint): void {
  history.points.push(point)
  const users = history.points.filter(({ user }) => user !== undefined)
  if (users.length > MAX_USER_SNAPSHOTS) history.points = history.points.filter((kept) => kept !== users[0])
}

/** Drops the points after this one, because EDR drops them when it is reverted. */
export function dropPointsAfter(history: History, point: RestorePoint): void {
  history.points.length = history.points.indexOf(point) + 1
}

/** Removes and returns the records above a height, oldest first. */
export function takeRecordsAbove(history: History, height: number): BlockRecord[] {
  const first = history.records.findIndex(({ number }) => number > height)
  return first < 0 ? [] : history.records.splice(first)
}
