import type { ClockState } from './chainClock.ts'
import type { Hex } from './quantity.ts'

/** A state setter such as hardhat_setBalance: no transaction, so it has to be done again when blocks are. */
export interface Cheat {
  method: string
  params: readonly unknown[]
}

/** All that is needed to mine the same block again, hash included. */
export interface BlockRecord {
  number: number
  hash: Hex
  timestampS: number
  prevRandao: Hex
  /** Done after the block before this one. */
  cheats: readonly Cheat[]
  rawTransactions: readonly Hex[]
}

/** What a caller's evm_snapshot brings back beside the EDR state. */
export interface UserSnapshot {
  id: Hex
  pending: readonly Hex[]
  cheats: readonly Cheat[]
  clock: ClockState
}

/** A place to which EDR can be reverted: one of our checkpoints, or a caller's snapshot. */
export interface RestorePoint {
  snapshotId: Hex
  height: number
  user: UserSnapshot | undefined
}

/** The recent blocks and the places to rewind to, both oldest first. A later place never has a lower height. */
export interface History {
  records: BlockRecord[]
  points: RestorePoint[]
  /** State setters since the last block. */
  cheats: Cheat[]
}

/** The deepest reorg that is always possible on a chain long enough. */
export const MAX_REORG_DEPTH = 128
// EDR never frees a snapshot, and each holds a table as large as the mempool once was (70 KB after 100 waiting transactions). So there is
// one per so many blocks or transactions, and what lies between is mined again on a rewind.
const CHECKPOINT_BLOCKS = 64
const CHECKPOINT_TRANSACTIONS = 1_000
/** User snapshots beyond this forget the oldest. */
const MAX_USER_SNAPSHOTS = 1_000

export function createHistory(): History {
  return { records: [], points: [], cheats: [] }
}

/** Is it time for a checkpoint before the next block? */
export function checkpointDue(history: History): boolean {
  const last = history.points.findLast((point) => point.user === undefined)
  if (last === undefined || history.records.length === 0) return true
  const since = history.records.filter((record) => record.number > last.height)
  const transactions = since.reduce((sum, record) => sum + record.rawTransactions.length, 0)
  return since.length >= CHECKPOINT_BLOCKS || transactions >= CHECKPOINT_TRANSACTIONS
}

/** Appends a mined block, with the setters that came before it, and forgets what no reorg can reach any more. */
export function addRecord(history: History, record: Omit<BlockRecord, 'cheats'>): void {
  history.records.push({ ...record, cheats: history.cheats })
  history.cheats = []
  const reach = record.number - MAX_REORG_DEPTH
  const base = history.points.findLast((point) => point.user === undefined && point.height <= reach)
  if (base === undefined || history.records[0]?.number === base.height + 1) return
  history.records = history.records.filter(({ number }) => number > base.height)
  history.points = history.points.filter((point) => point.user !== undefined || point.height >= base.height)
}

/** Appends a place to rewind to; past the limit the oldest user snapshot is forgotten. */
export function addPoint(history: History, point: RestorePoint): void {
  history.points.push(point)
  const users = history.points.filter(({ user }) => user !== undefined)
  if (users.length > MAX_USER_SNAPSHOTS) history.points = history.points.filter((kept) => kept !== users[0])
}

/** Forgets the places after this one: EDR drops them when it is reverted. */
export function dropPointsAfter(history: History, point: RestorePoint): void {
  history.points.length = history.points.indexOf(point) + 1
}

/** Takes out the records above a height, oldest first. */
export function takeRecordsAbove(history: History, height: number): BlockRecord[] {
  const first = history.records.findIndex(({ number }) => number > height)
  return first < 0 ? [] : history.records.splice(first)
}
