import type { Address, ChainSlug, LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { answersOf } from '../../trading/orders/orderModel.ts'
import { notReady, type NotReadyReason } from '../../ground/unavailable.ts'
import type { PositionReads } from '../../accounts/positions/positionReads.ts'
import { listFilledOrders, listLiveOrders } from '../../store/orderStore.ts'
import type { Store } from '../../store/sql.ts'
import { createLru } from '../../ground/lru.ts'

/**
 * Functions that return the current state of each channel of a trader's log, as JSON. They throw `NOT_READY` while it
 * is not known.
 */
export type LogSnapshots = Readonly<Record<LogChannel, (trader: Address) => Promise<string>>>

export interface LogSnapshotsOptions {
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly positions: Pick<PositionReads, 'ofTrader'>
  /** Returns the `Account` as JSON. */
  readonly accountText: (trader: Address) => Promise<string>
  /** Returns the reason why the followed state of the chain can't be trusted now; `undefined` while it can. */
  readonly followerReason: () => NotReadyReason | undefined
}

/** The number of filled orders in the snapshot of `fills`. */
const SNAPSHOT_FILLS = 50

export function createLogSnapshots(options: LogSnapshotsOptions): LogSnapshots {
  const { chain, store, positions, accountText, followerReason } = options
  return {
    async orders(trader) {
      const reason = followerReason()
      if (reason !== undefined) throw notReady(reason)
      return JSON.stringify(answersOf(await listLiveOrders(store.read, chain, trader)))
    },
    fills: async (trader) =>
      JSON.stringify(answersOf(await listFilledOrders(store.read, chain, trader, SNAPSHOT_FILLS))),
    positions: async (trader) => JSON.stringify(positions.ofTrader(trader)),
    account: accountText,
  }
}

/** The number of attempts to take a snapshot without a change in between. A busy account can change each time. */
const MAX_TRIES = 3

/**
 * Takes a snapshot. `seq` is the last event that it certainly includes. It is taken again when events were appended
 * meanwhile; after the last attempt the lower number is used, because a state that is sent twice does no harm and a
 * missed change does.
 */
export async function takeSnapshot(
  log: Pick<AccountLog, 'lastSeq' | 'settled'>,
  trader: Address,
  make: (trader: Address) => Promise<string>,
): Promise<{ readonly seq: number; readonly data: string }> {
  let seq = await log.lastSeq(trader)
  for (let tries = 1; ; tries += 1) {
    await log.settled()
    const data = await make(trader)
    const lastSeq = await log.lastSeq(trader)
    if (lastSeq === seq || tries === MAX_TRIES) return { seq, data }
    seq = lastSeq
  }
}

/** A snapshot, and the last event that it certainly includes. */
interface TakenSnapshot {
  readonly seq: number
  readonly data: string
}

type SnapshotTaker = (channel: LogChannel, trader: Address) => Promise<TakenSnapshot>

/** Channels whose snapshots are read from the store and change only when events were appended. */
const REUSED: ReadonlySet<LogChannel> = new Set(['orders', 'fills'])

/**
 * The time for which such a snapshot is reused. A client that keeps reconnecting costs the store one read per second.
 */
const REUSED_MS = 1_000

const MAX_REUSED_CHARACTERS = 8_000_000

/**
 * Creates a function that takes snapshots. `now` is a clock in milliseconds that never goes back. Default
 * `performance.now`.
 */
export function createSnapshotTaker(
  log: Pick<AccountLog, 'lastSeq' | 'settled'>,
  snapshots: LogSnapshots,
  now: () => number = () => performance.now(),
): SnapshotTaker {
  type Kept = TakenSnapshot & { readonly takenAtMs: number }
  const recent = createLru<string, Kept>(MAX_REUSED_CHARACTERS, ({ data }) => data.length)

  return async (channel, trader) => {
    const key = `${channel} ${trader}`
    const known = recent.get(key)
    const takenAtMs = now()
    const isFresh = known !== undefined && takenAtMs - known.takenAtMs < REUSED_MS
    if (isFresh && (await log.lastSeq(trader)) === known.seq) return known
    const taken = await takeSnapshot(log, trader, snapshots[channel])
    if (REUSED.has(channel)) recent.set(key, { ...taken, takenAtMs })
    return taken
  }
}
