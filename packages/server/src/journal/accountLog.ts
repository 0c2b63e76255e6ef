import {
  type LoggedEvent,
  appendEvents,
  readFirstSeq,
  readLastSeq,
  listEvents,
  setToldHoldings,
  readToldHoldings,
  type NewEvent,
  forgetEventsBefore,
  listLogsBefore,
} from '../store/accountEventStore.ts'
import type { PositionChange } from '../trading/positions/positionModel.ts'
import { type OrderChange, type OrderState, orderAnswer } from '../trading/orders/orderModel.ts'
import { type Address, type ChainSlug, DAY_MS } from '@bezel/protocol'
import type { StoredFill } from '../store/fillStore.ts'
import type { ChainScope, TraderScope } from '../store/scope.ts'
import type { Sql, Store, Transaction } from '../store/sql.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBreaks } from '../ground/breaks.ts'
import { every } from '../ground/every.ts'
import { createChainTime, type CommitTime } from './chainTime.ts'

/** The origin of a change. */
interface Origin {
  /** Number of the block that caused the change; `null` when a request or the clock did. */
  readonly block: number | null
  /** True when a block was undone: the change then corrects the past. */
  readonly isReorg: boolean
  /**
   * True for what a snapshot found, or what is undone of it. The log then tells the positions, once per trader, and no
   * orders, because none of them happened now. What is undone is not told: nobody is flat because of it, and the next
   * snapshot tells everybody. Default false.
   */
  readonly isSnapshot?: boolean
}

/** Origin of changes by a request or the clock. */
export const OFF_CHAIN: Origin = { block: null, isReorg: false }

/** The origin and the time of a change. */
export interface Cause extends Origin {
  readonly nowMs: number
}

/** An execution as the history of fills stores it. */
interface LoggedFill {
  readonly trader: Address
  readonly pairIndex: number
  readonly fill: StoredFill
}

/** Everything one transaction changed. */
export interface Changes {
  readonly chain: ChainSlug
  readonly cause: Cause
  readonly orders: readonly OrderChange[]
  readonly positions: readonly PositionChange[]
  readonly fills: readonly LoggedFill[]
}

/**
 * Collects the changes of one transaction. Every function that changes an order or a position takes one, and only the
 * log makes them.
 */
export interface Journal {
  order(change: OrderChange): void
  position(change: PositionChange): void
  execution(fill: LoggedFill): void
}

/** The current state of an account. */
export interface AccountNow {
  /**
   * The part that decides whether the account changed: balances, fee tier, referrer and delegate, as text. A change of
   * its list of agents alone makes no event.
   */
  readonly holdings: string
  /** The whole account as JSON. */
  readonly text: string
}

/** The numbered events of every account of one chain: 1, 2, 3, ... per trader, without a gap, in commit order. */
export interface AccountLog {
  /**
   * Runs a transaction of the store, in a scope of this chain, and appends events for its changes in the same
   * transaction. Listeners hear of them only after the commit. The time of the events is taken inside the transaction
   * and is not before that of the last commit, so the times of a log never decrease.
   */
  transaction<Result>(
    scope: ChainScope | TraderScope,
    origin: Origin,
    work: (sql: Transaction, journal: Journal, at: CommitTime) => Promise<Result>,
  ): Promise<Result>
  /**
   * Returns the time of the chain: the own clock, or the last commit that this process knows of, if that is later. A
   * clock that was set back stands still until it has caught up.
   */
  now(): number
  /**
   * Appends an event with the account's state when its holdings differ from the last ones recorded. Returns true when
   * an event was appended; the first record of an account appends none.
   */
  account(trader: Address, account: AccountNow): Promise<boolean>
  /** Returns the number of the last event; 0 when there is none. */
  lastSeq(trader: Address): Promise<number>
  /** Returns the number of the oldest kept event; one after the last when none is kept. */
  firstSeq(trader: Address): Promise<number>
  /** Reads the events after number `after`, oldest first. */
  read(trader: Address, of: { readonly after: number; readonly limit: number }): Promise<LoggedEvent[]>
  /**
   * Calls the listener after each commit that appended to a trader's log, as a signal to read on. Returns a function
   * that unsubscribes.
   */
  onAppend(listener: (trader: Address) => void): () => void
}

/** Returns all open positions of a trader after `changes`, which are its own, as JSON. */
export type PositionsText = (trader: Address, changes: Changes['positions']) => string

interface AccountLogOptions {
  readonly chain: ChainSlug
  readonly store: Store
  readonly positionsText: PositionsText
  readonly now: () => number
  /** Stores further data about the changes, in their transaction. */
  readonly alsoKeep: (sql: Sql, changes: Changes) => Promise<void>
  /** Called after each commit that changed something, before the listeners. */
  readonly onCommit: (changes: Changes) => void
  /** Called when `onCommit` or a listener throws. The commit stands, and its caller does not see the error. */
  readonly onError: (error: unknown) => void
}

export function createAccountLog(options: AccountLogOptions): AccountLog {
  const { chain, store } = options
  const time = createChainTime(chain, options.now)
  const listeners = new Set<(trader: Address) => void>()
  const owner = (trader: Address) => ({ chain, trader })

  function wake(traders: Iterable<Address>): void {
    for (const trader of traders) for (const listener of listeners) guarded(() => listener(trader))
  }

  function guarded(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      options.onError(error)
    }
  }

  async function keep(sql: Sql, changes: Changes): Promise<Address[]> {
    const events = eventsOf(changes, options.positionsText)
    const takeBreak = createBreaks()
    for (const [trader, ofTrader] of events) {
      await appendEvents(sql, owner(trader), ofTrader)
      await takeBreak()
    }
    await options.alsoKeep(sql, changes)
    return [...events].filter(([, ofTrader]) => ofTrader.length > 0).map(([trader]) => trader)
  }

  return {
    async transaction(scope, origin, work) {
      return store.transaction(scope, async (sql) => {
        const at = await time.read(sql)
        const journal = startJournal(chain, { ...origin, nowMs: at.nowMs })
        const { changes } = journal
        const result = await work(sql, journal, at)
        if (changes.orders.length + changes.positions.length === 0) return result
        const traders = await keep(sql, changes)
        await time.keep(sql, at)
        sql.afterCommit(() => {
          guarded(() => options.onCommit(changes))
          wake(traders)
        })
        return result
      })
    },
    async account(trader, { holdings, text }) {
      // Mostly nothing is new; this read then spares a wait for the single writer.
      if ((await readToldHoldings(store.read, owner(trader))) === holdings) return false
      return store.transaction(owner(trader), async (sql) => {
        const told = await readToldHoldings(sql, owner(trader))
        if (told === holdings) return false
        await setToldHoldings(sql, owner(trader), holdings)
        if (told === undefined) return false
        const at = await time.read(sql)
        const event = { channel: 'account', timestampMs: at.nowMs, block: null, isReverted: false, data: text } as const
        await appendEvents(sql, owner(trader), [event])
        await time.keep(sql, at)
        sql.afterCommit(() => wake([trader]))
        return true
      })
    },
    now: time.now,
    lastSeq: (trader) => readLastSeq(store.read, owner(trader)),
    firstSeq: (trader) => readFirstSeq(store.read, owner(trader)),
    read: (trader, of) => listEvents(store.read, owner(trader), of),
    onAppend(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function startJournal(chain: ChainSlug, cause: Cause): Journal & { readonly changes: Changes } {
  const orders: OrderChange[] = []
  const positions: PositionChange[] = []
  const fills: LoggedFill[] = []
  return {
    changes: { chain, cause, orders, positions, fills },
    order: (change) => void orders.push(change),
    position: (change) => void positions.push(change),
    execution: (fill) => void fills.push(fill),
  }
}

/** Returns the events for the changes of a transaction, in order, by trader. */
function eventsOf(changes: Changes, positionsText: PositionsText): Map<Address, NewEvent[]> {
  const byTrader = new Map<Address, NewEvent[]>()
  const add = (trader: Address, events: readonly NewEvent[]): void => {
    const before = byTrader.get(trader)
    if (before === undefined) byTrader.set(trader, [...events])
    else before.push(...events)
  }
  const { cause, orders, positions } = changes
  if (cause.isSnapshot === true && cause.isReorg) return byTrader
  const told = cause.isSnapshot === true ? [...orders, ...positions] : positions
  if (cause.isSnapshot !== true) {
    for (const change of orders) add(change.record.trader, orderEvents(change, cause))
  }
  const changed = Map.groupBy(positions, ({ record }) => record.trader)
  for (const trader of new Set(told.map(({ record }) => record.trader))) {
    add(trader, [newEvent('positions', positionsText(trader, changed.get(trader) ?? []), cause)])
  }
  return byTrader
}

/**
 * Returns the events for a change of an order. A change that the answer does not show, like the time at which an order
 * is due, makes none.
 */
function orderEvents({ record, before, after }: OrderChange, cause: Cause): NewEvent[] {
  const current = after ?? vanished(before, cause)
  if (current === undefined) return []
  const data = JSON.stringify(orderAnswer(record, current))
  if (before !== undefined && JSON.stringify(orderAnswer(record, before)) === data) return []
  const by = causeOf(current, after === undefined, cause)
  const order = newEvent('orders', data, by)
  return isFillNews(before, current) ? [order, newEvent('fills', data, by)] : [order]
}

/**
 * Returns the cause to record. A prepared order expires by time, and a reported hash that no node knows is given up by
 * time, even when a block was the occasion to notice it. An order that no longer exists is a correction, whatever
 * brought it to light.
 */
function causeOf({ status, txHash }: OrderState, isVanished: boolean, cause: Cause): Cause {
  if (isVanished) return { ...cause, isReorg: true }
  const isByTime = status === 'expired' || (status === 'prepared' && txHash !== null)
  return isByTime && !cause.isReorg ? { ...cause, block: null } : cause
}

/** Returns true when a fill is new, changed or taken back. */
function isFillNews(before: OrderState | undefined, after: OrderState): boolean {
  const told = before?.status === 'filled' ? JSON.stringify(before.fill) : undefined
  const now = after.status === 'filled' ? JSON.stringify(after.fill) : undefined
  return told !== now
}

/**
 * Returns the final state of an order that was found on blocks since undone. It never existed; the nearest status is
 * expired.
 */
function vanished(before: OrderState | undefined, { nowMs }: Cause): OrderState | undefined {
  if (before === undefined) return undefined
  return { ...before, status: 'expired', txHash: null, expiresAtMs: null, fill: null, reason: null, updatedAtMs: nowMs }
}

function newEvent(channel: NewEvent['channel'], data: string, { nowMs, block, isReorg }: Cause): NewEvent {
  return { channel, timestampMs: nowMs, block, isReverted: isReorg, data }
}

/** Interval between two rounds of deletion. */
const FORGET_ROUND_MS = 3_600_000

/** Maximum number of events deleted in one transaction, so that other writers do not wait long. */
const MAX_EVENTS_AT_ONCE = 500

/**
 * Deletes events older than `keepDays` at intervals, until the returned function is called. 0 days means keep for ever.
 */
export function forgetOldEvents(of: {
  readonly store: Store
  readonly keepDays: number
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly roundMs?: number
}): () => Promise<void> {
  if (of.keepDays === 0) return async () => {}
  const round = (): Promise<void> => forgetBefore(of.store, of.now() - of.keepDays * DAY_MS)
  const rounds = every(of.roundMs ?? FORGET_ROUND_MS, round, { isAtOnce: true, onError: of.onError })
  return () => rounds.close()
}

/** Number of logs that one statement looks at. */
const LOGS_AT_ONCE = 500

/** Deletes old events log by log, in short statements and transactions that let other writers in between. */
async function forgetBefore(store: Store, beforeMs: number): Promise<void> {
  for (let after: bigint | undefined = 0n; after !== undefined;) {
    const { old, lastId } = await listLogsBefore(store.read, beforeMs, { after, limit: LOGS_AT_ONCE })
    for (const id of old) await forgetIn(store, id, beforeMs)
    await nextTurn()
    after = lastId
  }
}

async function forgetIn(store: Store, id: bigint, beforeMs: number): Promise<void> {
  let forgotten = MAX_EVENTS_AT_ONCE
  while (forgotten === MAX_EVENTS_AT_ONCE) {
    forgotten = await store.transaction({ name: 'cleanup' }, (sql) =>
      forgetEventsBefore(sql, id, beforeMs, MAX_EVENTS_AT_ONCE),
    )
    await nextTurn()
  }
}
