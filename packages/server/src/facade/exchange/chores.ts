import type { FastifyBaseLogger } from 'fastify'
import { type Address, type OrderId, ApiError } from '@bezel/protocol'
import { every } from '../../ground/every.ts'
import { createLru } from '../../ground/lru.ts'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { cancelPositionUpdate } from '../../orders/cancelPositionUpdate.ts'
import {
  listTimedOutRelayed,
  endSchedule,
  listDueSchedules,
  type ScheduledCancel,
} from '../../store/facadeChoreStore.ts'
import { findOrder, listLiveOrders, type StoredOrder } from '../../store/orderStore.ts'
import { listTimedOutUpdates } from '../../store/positionAttemptStore.ts'
import { findPosition } from '../../store/positionStore.ts'
import { sendCancel } from './cancel.ts'
import type { TradingParts } from './exchangeParts.ts'
import { createStopInheritance } from './inheritStops.ts'
import { facadeAgent, relayed } from './relayed.ts'

/**
 * The background work of one chain's facade: triggers of added trades, scheduled cancels, and reclaims of what timed
 * out.
 */
export interface Chores {
  close(): Promise<void>
}

/** Time between two rounds. An idle round costs a few indexed reads. */
const ROUND_MS = 500

/** The number of cancels, or of reclaims, tried in one round. The others follow in the next rounds. */
const MAX_PER_ROUND = 20

/** The number of rows read at a time. */
const PAGE = 200
const MAX_REMEMBERED = 10_000

export function startChores(parts: TradingParts, log: Pick<FastifyBaseLogger, 'warn' | 'error'>): Chores {
  const dueCancels = createDueCancels(parts)
  const reclaims = createReclaims(parts)
  const inheritance = createStopInheritance(parts)
  const { slug: chain } = parts.orders.chain

  async function round(): Promise<void> {
    await inheritance.run(log)
    await dueCancels.run(log)
    await reclaims.run(log)
  }

  return every(ROUND_MS, round, {
    onError: (error) => log.error({ chain, err: error }, 'the facade could not do its chores'),
  })
}

/** Runs the scheduled cancels that are due and were not called off in time. */
interface DueCancels {
  run(log: Pick<FastifyBaseLogger, 'warn'>): Promise<void>
}

/**
 * Time after the first try at which a scheduled cancel is given up. The trader sees the remaining orders in every list
 * of its orders.
 */
const GIVE_UP_MS = 600_000

/** Pause in the work for one trader after a failure. */
const CANCEL_RETRY_MS = 2_000

/** Age at which a cancel that did not end its order counts as failed or never mined, and is sent again. */
const SEND_AGAIN_MS = 60_000

/**
 * Cancels the resting orders of traders who scheduled it, placed through the facade or natively, and is done when the
 * chain says that they have ended. Take profits and stop losses of positions stay, because they protect. A failed
 * cancel is tried again later, also by another process.
 */
export function createDueCancels(parts: TradingParts): DueCancels {
  const { orders, store, now } = parts
  const leftAloneUntilMs = createLru<Address, number>(MAX_REMEMBERED)
  /**
   * The time of this process's first try, by trader and due time. In memory only, so that a process that was down at
   * the due time does not give up at its first try.
   */
  const firstTriedAtMs = createLru<string, number>(MAX_REMEMBERED)
  /**
   * The last schedule that was tried. The next round continues after it, so schedules that fail do not block the
   * others.
   */
  let place: ScheduledCancel | undefined

  async function carryOut(schedule: ScheduledCancel, log: Pick<FastifyBaseLogger, 'warn'>): Promise<void> {
    const key = `${schedule.trader} ${schedule.dueAtMs}`
    const sinceMs = firstTriedAtMs.get(key) ?? now()
    firstTriedAtMs.set(key, sinceMs)
    const progress = await cancelAll(parts, schedule, log)
    if (progress === 'refused') leftAloneUntilMs.set(schedule.trader, now() + CANCEL_RETRY_MS)
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

/** The state of one schedule. `waiting`: every possible cancel was sent, and some orders have not ended yet. */
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
    // An order on its way to the chain can be cancelled once it is there.
    if (state?.status !== 'open') continue
    isRefused = !(await cancelScheduled({ parts, agent, expiresAfter: null }, record.id, log)) || isRefused
  }
  return isRefused ? 'refused' : 'waiting'
}

/**
 * True when the agent that scheduled the cancel was revoked or now acts for another trader. A stolen key must have no
 * effect after its revocation, not even through the trader's next agent.
 */
function isCalledOff({ registry }: TradingParts, { chain, trader, agent }: ScheduledCancel): boolean {
  const asked = registry.agent(chain, agent)
  return asked?.trader !== trader || asked.revoked
}

/**
 * True for orders that rest, or will once the chain has them, and were placed by the due time. Market orders end by
 * themselves.
 */
function isToCancel({ record, state }: StoredOrder, { dueAtMs }: ScheduledCancel): boolean {
  const isSent = state?.status === 'pending' || (state?.status === 'prepared' && state.txHash !== null)
  const isOnItsWay = isSent && record.request.type !== 'market'
  return record.createdAtMs <= dueAtMs && (state?.status === 'open' || isOnItsWay)
}

/** Sends one cancel. Returns true when it was sent, or when the order has already ended in another way. */
async function cancelScheduled(
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

/** Reclaims the collateral of orders and of changes of positions that the oracle never answered. */
interface Reclaims {
  run(log: Pick<FastifyBaseLogger, 'warn'>): Promise<void>
}

/** Pause between two tries to reclaim one order or change. */
const RECLAIM_RETRY_MS = 30_000

/**
 * Reclaims relayed market orders, and relayed changes of margin, that timed out. They hold their trader's collateral
 * until somebody reclaims it, and clients of the facade have no action for that.
 */
export function createReclaims(parts: TradingParts): Reclaims {
  const { store } = parts
  const orders = createReclaimRounds(parts, { list: listTimedOutRelayed, reclaim: reclaimOrder })
  const updates = createReclaimRounds(parts, { list: listTimedOutUpdates, reclaim: reclaimUpdate })

  async function reclaimOrder(id: OrderId): Promise<void> {
    const stored = await findOrder(store.read, id)
    const agent = stored && facadeAgent(parts, stored.record)
    if (agent === undefined) return
    await relayed({ parts, agent, expiresAfter: null }, (write) => cancelOrder(parts.orders, write, id))
  }

  async function reclaimUpdate(id: OrderId): Promise<void> {
    const stored = await findPosition(store.read, id)
    const agent = stored && facadeAgent(parts, { trader: stored.record.trader, agent: null })
    if (agent === undefined) return
    await relayed({ parts, agent, expiresAfter: null }, (write) => cancelPositionUpdate(parts.orders, write, id))
  }

  return {
    async run(log) {
      await orders.run(log)
      await updates.run(log)
    },
  }
}

/** One kind of things to reclaim: the list of those that are due, and the reclaim of one of them. */
interface Reclaimable {
  readonly list: typeof listTimedOutRelayed
  readonly reclaim: (id: OrderId) => Promise<void>
}

function createReclaimRounds(parts: TradingParts, { list, reclaim }: Reclaimable): Reclaims {
  const { store, orders, relayer, now } = parts
  const leftAloneUntilMs = createLru<OrderId, number>(MAX_REMEMBERED)
  /** The last one that was tried. The next round continues after it, so those that fail do not block the others. */
  let place: OrderId | null = null

  return {
    async run(log) {
      const of = { sender: relayer.address, nowMs: now(), after: place, limit: PAGE }
      const found = await list(store.read, orders.chain.slug, of)
      let tried = 0
      for (const id of found) {
        if (tried === MAX_PER_ROUND) return
        place = id
        if ((leftAloneUntilMs.get(id) ?? 0) > now()) continue
        tried += 1
        leftAloneUntilMs.set(id, now() + RECLAIM_RETRY_MS)
        try {
          await reclaim(id)
        } catch (error) {
          log.warn({ chain: orders.chain.slug, id, err: error }, 'a timed-out request could not be reclaimed')
        }
      }
      if (found.length < PAGE) place = null
    },
  }
}
