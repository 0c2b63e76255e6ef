import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { createRecent } from '../../ground/recent.ts'
import { takeSnapshot, type LogSnapshots } from './logSnapshots.ts'

/** A snapshot, and the last event that it certainly holds. */
export interface TakenSnapshot {
  readonly seq: number
  readonly data: string
}

export type SnapshotTaker = (channel: LogChannel, trader: Address) => Promise<TakenSnapshot>

/** Those that are read from the store, and are others only when the log has gone on. */
const REUSED: ReadonlySet<LogChannel> = new Set(['orders', 'fills'])

/** Who comes and goes all the time costs the store one reading of them in so long. */
const REUSED_MS = 1_000
const MAX_REUSED_CHARACTERS = 8_000_000

export function createSnapshotTaker(log: Pick<AccountLog, 'lastSeq'>, snapshots: LogSnapshots): SnapshotTaker {
  type Kept = TakenSnapshot & { readonly takenAtMs: number }
  const recent = createRecent<string, Kept>(MAX_REUSED_CHARACTERS, ({ data }) => data.length)

  return async (channel, trader) => {
    const key = `${channel} ${trader}`
    const known = recent.get(key)
    const takenAtMs = performance.now()
    const isFresh = known !== undefined && takenAtMs - known.takenAtMs < REUSED_MS
    if (isFresh && (await log.lastSeq(trader)) === known.seq) return known
    const taken = await takeSnapshot(log, trader, snapshots[channel])
    if (REUSED.has(channel)) recent.set(key, { ...taken, takenAtMs })
    return taken
  }
}
