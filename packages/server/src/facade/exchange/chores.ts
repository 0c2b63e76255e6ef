import type { FastifyBaseLogger } from 'fastify'
import { ApiError, type OrderId } from '@bezel/protocol'
import { every } from '../../ground/every.ts'
import { createLru } from '../../ground/lru.ts'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { cancelPositionUpdate } from '../../orders/cancelPositionUpdate.ts'
import { listClosing, restoreClosingSlippage } from '../../orders/updatePosition.ts'
import {
  deleteRestore,
  listTimedOutRelayed,
  endSchedule,
  listDueSchedules,
  listRestores,
  type ScheduledCancel,
} from '../../store/facadeChoreStore.ts'
import { findOrder, listLiveOrders, type StoredOrder } from '../../store/orderStore.ts'
import { listTimedOutUpdates } from '../../store/positionAttemptStore.ts'
import { findPosition } from '../../store/positionStore.ts'
import { isTight } from '../../trading/plan/closingSlippage.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { TRIGGER_KINDS, wholeKeyOf } from '../triggers.ts'
import { sendCancel } from './cancel.ts'
import type { TradingParts } from './exchangeParts.ts'
import { createStopInheritance } from './inheritStops.ts'
import { facadeAgent, relayed } from './relayed.ts'

/**
 * The background work of one chain's facade: triggers of added trades, closing slippages under which triggers would not
 * execute, scheduled cancels, and reclaims of what timed out.
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
  const restores = createRestores(parts)
  const { slug: chain } = parts.orders.chain

  async function round(): Promise<void> {
    await inheritance.run(log)
    await restores.run(log)
    await dueCancels.run(log)
    await reclaims.run(log)
  }

  return every(ROUND_MS, round, {
    onError: (error) => log.error({ chain, err: error }, 'the facade could not do its chores'),
  })
}

/** One kind of background work. Each round does a part of it. */
interface Chore {
  run(log: Pick<FastifyBaseLogger, 'warn'>): Promise<void>
}

/**
 * Time after the first try at which a scheduled cancel is given up. The trader sees the remaining orders in every list
 * of its orders.
 */
const GIVE_UP_MS = 600_000

/** Pause before what can be over in a moment is tried again. */
const RETRY_SOON_MS = 2_000

/** Age at which a cancel that did not end its order counts as failed or never mined, and is sent again. */
const SEND_AGAIN_MS = 60_000

/**
 * Cancels the resting orders of traders who scheduled it, placed through the facade or natively, and is done when the
 * chain says that they have ended. Take profits and stop losses of positions stay, because they protect. A failed
 * cancel is tried again later, also by another process.
 */
export function createDueCancels(parts: TradingParts): Chore {
  const { orders, store, controls, now } = parts
  const { slug: chain } = orders.chain
  /**
   * The time of this process's first try, by trader and due time. In memory only, so that a process that was down at
   * the due time does not give up at its first try.
   */
  let firstTriedAtMs = createLru<string, number>(MAX_REMEMBERED)
  const rounds = createRounds(parts, {
    list: (after: ScheduledCancel | null) =>
      listDueSchedules(store.read, chain, { nowMs: now(), limit: PAGE, after: after ?? undefined }),
    keyOf: ({ trader }) => trader,
    work: carryOut,
  })

  async function carryOut(schedule: ScheduledCancel, log: Pick<FastifyBaseLogger, 'warn'>): Promise<number> {
    const key = `${schedule.trader} ${schedule.dueAtMs}`
    const sinceMs = firstTriedAtMs.get(key) ?? now()
    firstTriedAtMs.set(key, sinceMs)
    const progress = await cancelAll(parts, schedule, log)
    if (progress === 'unknown') {
      // No failure either: the time to try begins when everything is known.
      firstTriedAtMs.delete(key)
      return RETRY_SOON_MS
    }
    if (progress === 'done' || now() - sinceMs > GIVE_UP_MS) {
      await store.transaction({ chain, trader: schedule.trader }, (sql) => endSchedule(sql, schedule))
      firstTriedAtMs.delete(key)
    }
    return progress === 'refused' ? RETRY_SOON_MS : 0
  }

  return {
    async run(log) {
      const isPaused = (controls.writesPaused(chain) ?? controls.relayerPaused(chain)) !== undefined
      if (!isPaused && !isDiamondChanged(parts)) return rounds.run(log)
      // A pause of the operator, or for other contracts, is no failure: the time to try begins after it.
      firstTriedAtMs = createLru(MAX_REMEMBERED)
    },
  }
}

/** True while nothing is written because the contracts changed, which may take until another build is started. */
function isDiamondChanged({ orders }: TradingParts): boolean {
  try {
    orders.trading()
    return false
  } catch (error) {
    return error instanceof ApiError && error.details?.['reason'] === 'diamond_changed'
  }
}

/**
 * The state of one schedule. `waiting`: every possible cancel was sent, and some orders have not ended yet. `unknown`:
 * not everything of the trader is known, so the orders that are known may not be all of them.
 */
type Progress = 'done' | 'waiting' | 'refused' | 'unknown'

async function cancelAll(
  parts: TradingParts,
  schedule: ScheduledCancel,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<Progress> {
  const { chain, trader } = schedule
  if (!parts.orders.isKnown(trader)) return 'unknown'
  const live = (await listLiveOrders(parts.store.read, chain, trader)).filter((order) => isToCancel(order, schedule))
  if (live.length === 0) return 'done'
  const agent = (await isCalledOff(parts, schedule)) ? undefined : await facadeAgent(parts, schedule)
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
async function isCalledOff({ registry }: TradingParts, { chain, trader, agent }: ScheduledCancel): Promise<boolean> {
  const asked = await registry.findAgent(chain, agent)
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

/** Pause between two tries to reclaim one order or change. */
const RECLAIM_RETRY_MS = 30_000

/**
 * Reclaims relayed market orders, and relayed changes of margin, that timed out. They hold their trader's collateral
 * until somebody reclaims it, and clients of the facade have no action for that.
 */
export function createReclaims(parts: TradingParts): Chore {
  const { store, relayer, now } = parts
  const { slug: chain } = parts.orders.chain
  const roundsOf = (list: typeof listTimedOutRelayed, reclaim: (id: OrderId) => Promise<void>): Chore =>
    createRounds(parts, {
      list: (after: OrderId | null) =>
        list(store.read, chain, { sender: relayer.address, nowMs: now(), after, limit: PAGE }),
      keyOf: (id) => id,
      async work(id, log) {
        try {
          await reclaim(id)
          return RECLAIM_RETRY_MS
        } catch (error) {
          // Not ready is no failure, and soon over: at a start, or while the trader is read again.
          if (error instanceof ApiError && error.code === 'NOT_READY') return RETRY_SOON_MS
          log.warn({ chain, id, err: error }, 'a timed-out request could not be reclaimed')
          return RECLAIM_RETRY_MS
        }
      },
    })
  const orders = roundsOf(listTimedOutRelayed, reclaimOrder)
  const updates = roundsOf(listTimedOutUpdates, reclaimUpdate)

  async function reclaimOrder(id: OrderId): Promise<void> {
    const stored = await findOrder(store.read, id)
    const agent = stored && (await facadeAgent(parts, stored.record))
    if (agent === undefined) return
    await relayed({ parts, agent, expiresAfter: null }, (write) => cancelOrder(parts.orders, write, id))
  }

  async function reclaimUpdate(id: OrderId): Promise<void> {
    const stored = await findPosition(store.read, id)
    const agent = stored && (await facadeAgent(parts, { trader: stored.record.trader, agent: null }))
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

/** Pause between two tries to put back the closing slippage of one trade. */
const RESTORE_RETRY_MS = 30_000

/**
 * Puts back the closing slippage of trades whose stops were set through the facade while a close needed a tight one,
 * once that close has ended. A trade is followed until it has been without a tight slippage for as long as a block
 * takes to be final; what the trader sets natively afterwards is its own.
 */
export function createRestores(parts: TradingParts): Chore {
  const { orders, store, reads, relayer } = parts
  const { slug: chain } = orders.chain
  /** The block in which a trade was first seen closed, or without a tight slippage. */
  const doneSince = createLru<OrderId, number>(MAX_REMEMBERED)

  /** True when a trigger of the trade would not execute, and nothing is under way that needs or ends that. */
  async function isToRestore(position: LivePosition): Promise<boolean> {
    const { sl, tp } = position.state.trade
    if (sl === 0n && tp === 0n) return false
    for (const kind of TRIGGER_KINDS) {
      if ((await reads.triggers.onItsWay(wholeKeyOf(position, kind), relayer)) !== undefined) return false
    }
    if ((await listClosing(orders, [position])).has(position.record.id)) return false
    // A change that was on its way may have arrived meanwhile.
    const now = orders.positions.find(position.record.id)
    return now !== undefined && isTight(now)
  }

  async function restore({ record }: LivePosition): Promise<void> {
    const agent = await facadeAgent(parts, { trader: record.trader, agent: null })
    if (agent === undefined) throw new Error('the trader has no agent in force')
    await relayed({ parts, agent, expiresAfter: null }, (write) => restoreClosingSlippage(orders, write, record.id))
  }

  return createRounds(parts, {
    list: (after: OrderId | null) => listRestores(store.read, chain, { after, limit: PAGE }),
    keyOf: (id) => id,
    async work(id, log) {
      const position = orders.positions.find(id)
      if (position === undefined || !isTight(position)) {
        const since = doneSince.get(id) ?? orders.clock().headBlock
        doneSince.set(id, since)
        if (orders.lastFinal() >= since) await store.transaction({ chain }, (sql) => deleteRestore(sql, id))
        return 0
      }
      doneSince.delete(id)
      if (!(await isToRestore(position))) return 0
      await restore(position).catch((error: unknown) =>
        log.warn({ chain, position: id, err: error }, 'a closing slippage could not be put back; it is tried again'),
      )
      return RESTORE_RETRY_MS
    },
  })
}

/** Work on a list of due things. */
interface RoundsOf<Item, Key> {
  /** Lists up to `PAGE` of them, in order, from after this one. */
  readonly list: (after: Item | null) => Promise<readonly Item[]>
  readonly keyOf: (item: Item) => Key
  /** Does the work for one of them. Returns the time for which what has its key is left alone, in ms. */
  readonly work: (item: Item, log: Pick<FastifyBaseLogger, 'warn'>) => Promise<number>
}

/** Creates rounds that try a few items each. The next continues after them, so those that fail do not block others. */
function createRounds<Item, Key>({ now }: TradingParts, { list, keyOf, work }: RoundsOf<Item, Key>): Chore {
  const leftAloneUntilMs = createLru<Key, number>(MAX_REMEMBERED)
  let place: Item | null = null

  return {
    async run(log) {
      const found = await list(place)
      let tried = 0
      for (const item of found) {
        if (tried === MAX_PER_ROUND) return
        place = item
        if ((leftAloneUntilMs.get(keyOf(item)) ?? 0) > now()) continue
        tried += 1
        leftAloneUntilMs.set(keyOf(item), now() + (await work(item, log)))
      }
      if (found.length < PAGE) place = null
    },
  }
}
