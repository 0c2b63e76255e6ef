import type { FastifyBaseLogger } from 'fastify'
import { ApiError, type Address } from '@bezel/protocol'
import { putLast } from '../../ground/putLast.ts'
import { endSchedule, listDueSchedules, type ScheduledCancel } from '../../store/facadeScheduleStore.ts'
import { listLiveOrders, type StoredOrder } from '../../store/orderStore.ts'
import { sendCancel } from './cancelOne.ts'
import type { TradingParts } from './exchangeParts.ts'
import { facadeAgent } from './facadeAgent.ts'

/** Cancels what traders asked for and did not call off in time. */
export interface DueCancels {
  run(log: Pick<FastifyBaseLogger, 'warn'>): Promise<void>
}

/** Carried out in one round; the rest follows in the next. */
const MAX_PER_ROUND = 20
/** Read at a time. */
const PAGE = 200
/** What can't be cancelled for so long since it was first tried is given up: its trader has been told by every look at its orders. */
const GIVE_UP_MS = 600_000
/** After a failure a trader is left alone for so long. */
const RETRY_MS = 2_000
const MAX_REMEMBERED = 10_000
/** A cancel that is older and did not end its order has failed, or was never mined: it is sent again. */
const SEND_AGAIN_MS = 60_000

/**
 * Cancels the resting orders of traders who asked for it, whichever side they were placed from, and is done when the chain says that they are
 * over. Take profits and stop losses of positions stay: they protect. What fails is tried again later, also by another process.
 */
export function createDueCancels(parts: TradingParts): DueCancels {
  const { orders, store, now } = parts
  const leftAloneUntilMs = new Map<Address, number>()
  /** Of this process: who was down when it was due must not give up at the first look. */
  const firstTriedAtMs = new Map<string, number>()
  /** Everything up to it was looked at: those that fail must not keep others from it. */
  let place: ScheduledCancel | undefined

  async function carryOut(schedule: ScheduledCancel, log: Pick<FastifyBaseLogger, 'warn'>): Promise<void> {
    const key = `${schedule.trader} ${schedule.dueAtMs}`
    const sinceMs = firstTriedAtMs.get(key) ?? now()
    putLast(firstTriedAtMs, key, sinceMs, MAX_REMEMBERED)
    const progress = await cancelAll(parts, schedule, log)
    if (progress === 'refused') putLast(leftAloneUntilMs, schedule.trader, now() + RETRY_MS, MAX_REMEMBERED)
    if (progress !== 'done' && now() - sinceMs <= GIVE_UP_MS) return
    await store.transaction((sql) => endSchedule(sql, schedule))
    firstTriedAtMs.delete(key)
  }

  return {
    async run(log) {
      const due = await listDueSchedules(store.read, orders.chain.slug, { nowMs: now(), limit: PAGE, after: place })
      let tried = 0
      for (const schedule of due) {
        if (tried === MAX_PER_ROUND) return
        place = schedule
        if ((leftAloneUntilMs.get(schedule.trader) ?? 0) > now()) continue
        tried += 1
        await carryOut(schedule, log)
      }
      if (due.length < PAGE) place = undefined
    },
  }
}

/** `waiting`: everything was sent that can be, and some of it is not over yet. */
type Progress = 'done' | 'waiting' | 'refused'

async function cancelAll(
  parts: TradingParts,
  schedule: ScheduledCancel,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<Progress> {
  const { chain, trader } = schedule
  const live = (await listLiveOrders(parts.store.read, chain, trader)).filter((order) => isToCancel(order, schedule))
  if (live.length === 0) return 'done'
  const agent = isCalledOff(parts, schedule) ? undefined : facadeAgent(parts, schedule)
  if (agent === undefined) {
    log.warn({ chain, trader }, 'a scheduled cancel has no agent left that may act')
    return 'done'
  }
  let isRefused = false
  for (const { record, state } of live) {
    // One on its way to the chain can be cancelled once it is there.
    if (state?.status !== 'open') continue
    isRefused = !(await cancelOne({ parts, agent, expiresAfter: null }, record.id, log)) || isRefused
  }
  return isRefused ? 'refused' : 'waiting'
}

/** A key that was stolen must not reach beyond its revocation, not even in the name of the agent that follows it. */
function isCalledOff({ registry }: TradingParts, { chain, trader, agent }: ScheduledCancel): boolean {
  const asked = registry.agent(chain, agent)
  return asked?.trader !== trader || asked.revoked
}

/** Market orders end by themselves, and what was placed after the time is not meant. */
function isToCancel({ record, state }: StoredOrder, { dueAtMs }: ScheduledCancel): boolean {
  const isOnItsWay = state?.status === 'pending' && record.request.type !== 'market'
  return record.createdAtMs <= dueAtMs && (state?.status === 'open' || isOnItsWay)
}

/** Whether it was sent, or can't be cancelled because it is over in another way. */
async function cancelOne(
  context: Parameters<typeof sendCancel>[0],
  id: StoredOrder['record']['id'],
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<boolean> {
  try {
    await sendCancel(context, id, SEND_AGAIN_MS)
    return true
  } catch (error) {
    log.warn({ chain: context.agent.chain, order: id, err: error }, 'a scheduled cancel was refused')
    return error instanceof ApiError && (error.code === 'ORDER_NOT_MODIFIABLE' || error.code === 'ORDER_NOT_FOUND')
  }
}
