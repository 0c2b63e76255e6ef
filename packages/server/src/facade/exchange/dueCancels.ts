import type { FastifyBaseLogger } from 'fastify'
import { ApiError } from '@bezel/protocol'
import { endSchedule, listDueSchedules, type ScheduledCancel } from '../../store/facadeScheduleStore.ts'
import { listLiveOrders, type StoredOrder } from '../../store/orderStore.ts'
import { sendCancel } from './cancelOne.ts'
import type { TradingParts } from './exchangeParts.ts'
import { facadeAgent } from './facadeAgent.ts'

/** Carried out in one round; the rest follows in the next. */
const MAX_PER_ROUND = 20
/** What can't be cancelled for so long is given up: its trader has been told by every look at its orders. */
const GIVE_UP_MS = 600_000

/**
 * Cancels the resting orders of traders who asked for it and did not call it off in time, whichever side they were placed from. Take profits and
 * stop losses of positions stay: they protect. What fails is tried again in the next round, also by another process.
 */
export async function runDueCancels(parts: TradingParts, log: Pick<FastifyBaseLogger, 'warn'>): Promise<void> {
  const { orders, store, now } = parts
  const due = await listDueSchedules(store.read, orders.chain.slug, { nowMs: now(), limit: MAX_PER_ROUND })
  for (const schedule of due) {
    const isDone = await cancelAll(parts, schedule, log)
    if (isDone || now() - schedule.dueAtMs > GIVE_UP_MS) await store.transaction((sql) => endSchedule(sql, schedule))
  }
}

/** Whether nothing is left to be cancelled. */
async function cancelAll(
  parts: TradingParts,
  schedule: ScheduledCancel,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<boolean> {
  const { chain, trader } = schedule
  const agent = facadeAgent(parts, schedule)
  if (agent === undefined) {
    log.warn({ chain, trader }, 'a scheduled cancel has no agent left that may act')
    return true
  }
  let isDone = true
  for (const order of (await listLiveOrders(parts.store.read, chain, trader)).filter(isToCancel)) {
    const { id } = order.record
    // It is on its way to the chain, and can be cancelled once it is there.
    if (order.state?.status !== 'open') isDone = false
    else isDone = (await cancelOne({ parts, agent, expiresAfter: null }, id, log)) && isDone
  }
  return isDone
}

/** Market orders end by themselves. */
function isToCancel({ record, state }: StoredOrder): boolean {
  const isOnItsWay = state?.status === 'pending' && record.request.type !== 'market'
  return state?.status === 'open' || isOnItsWay
}

/** Whether it is cancelled, or can't be: then it is over in another way. */
async function cancelOne(
  context: Parameters<typeof sendCancel>[0],
  id: StoredOrder['record']['id'],
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<boolean> {
  try {
    await sendCancel(context, id)
    return true
  } catch (error) {
    log.warn({ chain: context.agent.chain, order: id, err: error }, 'a scheduled cancel was refused')
    return error instanceof ApiError && (error.code === 'ORDER_NOT_MODIFIABLE' || error.code === 'ORDER_NOT_FOUND')
  }
}
