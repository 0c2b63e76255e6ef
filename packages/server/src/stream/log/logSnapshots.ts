import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address, ChainSlug, LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { answersOf } from '../../accounts/answersOf.ts'
import { notReady, type NotReadyReason } from '../../ground/notReady.ts'
import type { PositionReads } from '../../accounts/positions/positionReads.ts'
import { listFilledOrders, listLiveOrders } from '../../store/orderStore.ts'
import type { Store } from '../../store/sql.ts'

/** What each channel of a trader's log stands at now, as JSON. They throw `NOT_READY` while that can't be said. */
export type LogSnapshots = Readonly<Record<LogChannel, (trader: Address) => Promise<string>>>

export interface LogSnapshotsOptions {
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly positions: Pick<PositionReads, 'ofTrader'>
  /** The Account, as JSON. */
  readonly accountText: (trader: Address) => Promise<string>
  /** Why what was followed of the chain can't be trusted now; `undefined` when it can. */
  readonly followerReason: () => NotReadyReason | undefined
}

/** How many filled orders the snapshot of `fills` has. */
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

/** A busy account can change again each time. */
const MAX_TRIES = 3

/**
 * A snapshot, and the last event that it certainly holds. It is made again when something was appended meanwhile; in the end the lower number
 * stands, because to be told twice of a state harms nobody and to miss a change does.
 */
export async function takeSnapshot(
  log: Pick<AccountLog, 'lastSeq'>,
  trader: Address,
  make: (trader: Address) => Promise<string>,
): Promise<{ readonly seq: number; readonly data: string }> {
  let seq = await log.lastSeq(trader)
  for (let tries = 1; ; tries += 1) {
    // What is kept in memory follows a commit at once, but not in the same instant.
    await nextTick()
    const data = await make(trader)
    const lastSeq = await log.lastSeq(trader)
    if (lastSeq === seq || tries === MAX_TRIES) return { seq, data }
    seq = lastSeq
  }
}
