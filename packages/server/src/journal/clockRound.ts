import type { ChainSlug } from '@bezel/protocol'
import { OFF_CHAIN, type AccountLog } from './accountLog.ts'
import { startRounds, type Rounds } from '../ground/rounds.ts'
import { listDueOrders } from '../store/orderStore.ts'
import type { Store } from '../store/sql.ts'
import type { FoldClock } from '../trading/orders/orderModel.ts'
import { isTimeoutKnown } from '../trading/orders/unknownTimeout.ts'
import { refoldOrder } from './refoldOrder.ts'

/** Folded in one transaction; the rest follows in the next round. */
const MAX_ORDERS_PER_ROUND = 200

/** Often enough that nobody waits for an expiry, rare enough to cost nothing: a round without due orders is one indexed read. */
const ROUND_MS = 250

export interface ClockRoundsOptions {
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  readonly clock: () => FoldClock
  readonly onError: (error: unknown) => void
}

/** What time alone moves on, while no block comes and nobody asks: prepared orders expire. */
export function startClockRounds(options: ClockRoundsOptions): Rounds {
  return startRounds({ everyMs: ROUND_MS, round: () => runRound(options), onError: options.onError })
}

/** Folds what is due by now, in one transaction. */
export async function runRound({ chain, store, accountLog, clock }: ClockRoundsOptions): Promise<void> {
  if ((await listDueOrders(store.read, chain, dueAt(clock()))).length === 0) return
  await accountLog.transaction(OFF_CHAIN, async (sql, journal) => {
    const at = clock()
    for (const id of await listDueOrders(sql, chain, dueAt(at))) await refoldOrder(sql, id, at, journal)
  })
}

/** No block is due by a timeout that is not known. */
function dueAt(at: FoldClock) {
  return { nowMs: at.nowMs, headBlock: isTimeoutKnown(at) ? at.headBlock : -1, limit: MAX_ORDERS_PER_ROUND }
}
