import {
  type KeptSeqs,
  type LoggedEvent,
  appendEvents,
  readKeptSeqs,
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
import type { ChainScope, TraderScope } from '../store/scope.ts'
import type { Sql, Store, Transaction } from '../store/sql.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBreaks } from '../ground/breaks.ts'
import { every } from '../ground/every.ts'
import { notReady, StoreUnavailableError } from '../ground/unavailable.ts'
import { createChainTime, type CommitTime } from './chainTime.ts'
import type { Cause, Changes, Journal, LoggedFill, Origin } from './changes.ts'
import { createCommits, requireFresh, type ChainCommits } from './commits.ts'

export { OFF_CHAIN, type Cause, type Changes, type Journal } from './changes.ts'

/** The current state of an account. */
export interface AccountNow {
  /**
   * The part that decides whether the account changed: balances, fee tier, referrer and delegate, as text. A change of
   * its list of agents alone makes no event.
   */
  readonly holdings: string
  /** The whole account as JSON. */
  readonly text: string
  /** The blocks that it may be of. Left out where one process alone tells of accounts, in the order of its reads. */
  readonly blocks?: BlockRange | undefined
}

/** Something is as of one of these blocks, both included. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** `older`: another node has told of a block that may be later, so nothing was recorded. */
export type AccountOutcome = 'appended' | 'unchanged' | 'older'

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
  /** Does the same within a transaction under way, which has the scope of the chain. At most once in each. */
  join<Result>(
    sql: Transaction,
    origin: Origin,
    work: (journal: Journal, at: CommitTime) => Promise<Result>,
  ): Promise<Result>
  /**
   * Returns the time of the chain: the own clock, or the last commit that this process knows of, if that is later. A
   * clock that was set back stands still until it has caught up.
   */
  now(): number
  /**
   * Appends an event with the account's state when its holdings differ from the last ones recorded and it is not of an
   * earlier block than they. The first record of an account appends none.
   */
  account(trader: Address, account: AccountNow): Promise<AccountOutcome>
  /**
   * Resolves once everything in memory includes what was committed before the call, by any node. Throws `NOT_READY`
   * when that takes too long.
   */
  settled(): Promise<void>
  /** Returns the number of the last event; 0 when there is none. */
  lastSeq(trader: Address): Promise<number>
  /** Returns the numbers of the oldest and the last kept event. */
  keptSeqs(trader: Address): Promise<KeptSeqs>
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
  /** The commits of the chain, which all that is kept in memory follows. Default: those of this log alone. */
  readonly commits?: ChainCommits
  /** Called when a listener throws. The commit stands, and its caller does not see the error. */
  readonly onError: (error: unknown) => void
}

/** Longest wait for the commits of other nodes. */
const SETTLED_MS = 2_000
/** Longest wait for them within a transaction, which keeps the whole chain waiting. */
const TOLD_MS = 1_000

export function createAccountLog(options: AccountLogOptions): AccountLog {
  const { chain, store, onError, commits = createCommits(store, { onError }).of(chain) } = options
  const time = createChainTime(chain, options.now)
  const appends = createAppends(onError)
  const owner = (trader: Address) => ({ chain, trader })

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

  /** Waits until memory has every commit before this one: positions that did not change are told from there. */
  async function requireApplied({ after }: CommitTime): Promise<void> {
    // On one machine own commits are all that there are, and each is applied before the next begins.
    if (store.read.engine === 'sqlite' || (await commits.reached(after, TOLD_MS))) return
    throw new StoreUnavailableError(`what other nodes committed on ${chain} could not be read in time`)
  }

  const join: AccountLog['join'] = async (sql, origin, work) => {
    const at = await time.read(sql)
    const journal = startJournal(chain, { ...origin, nowMs: at.nowMs })
    const { changes } = journal
    const result = await work(journal, at)
    const step = journal.told()
    if (tellsPositions(changes)) await requireApplied(at)
    if (changes.orders.length + changes.positions.length > 0) {
      commits.note(sql, at.nowMs, { changes, woken: await keep(sql, changes), step })
    } else if (step !== undefined) commits.note(sql, at.nowMs, { step })
    return result
  }

  commits.follow({
    apply({ atMs, woken }) {
      time.note(atMs)
      appends.wake(woken)
    },
    // Whoever listens is cut off by then, and reads on from its last event.
    reload: async () => {},
  })

  return {
    async transaction(scope, origin, work) {
      return store.transaction(scope, (sql) => join(sql, origin, (journal, at) => work(sql, journal, at)))
    },
    join,
    async account(trader, { holdings, text, blocks }) {
      // Mostly nothing is new; this read then spares a wait for the single writer.
      if ((await readToldHoldings(store.read, owner(trader)))?.holdings === holdings) return 'unchanged'
      return store.transaction(owner(trader), async (sql): Promise<AccountOutcome> => {
        const told = await readToldHoldings(sql, owner(trader))
        if (told?.holdings === holdings) return 'unchanged'
        // Nodes read for themselves, and one whose answer is older may come to write later.
        if (blocks !== undefined && blocks.from < (told?.block ?? 0)) return 'older'
        await setToldHoldings(sql, owner(trader), { holdings, block: blocks?.to ?? null })
        if (told === undefined) return 'unchanged'
        const at = await time.read(sql)
        const event = { channel: 'account', timestampMs: at.nowMs, block: null, isReverted: false, data: text } as const
        await appendEvents(sql, owner(trader), [event])
        commits.note(sql, at.nowMs, { woken: [trader] })
        return 'appended'
      })
    },
    now: time.now,
    async settled() {
      // Memory is changed right after an own commit, but not in the same turn.
      if (store.read.engine === 'sqlite') return nextTurn()
      if (!(await commits.settled(SETTLED_MS))) throw notReady('store_lagging')
      requireFresh(commits)
    },
    lastSeq: (trader) => readLastSeq(store.read, owner(trader)),
    keptSeqs: (trader) => readKeptSeqs(store.read, owner(trader)),
    read: (trader, of) => listEvents(store.read, owner(trader), of),
    onAppend: appends.subscribe,
  }
}

/** Passes on whose logs have new events. An error of one listener keeps nothing from the others. */
function createAppends(onError: (error: unknown) => void) {
  const listeners = new Set<(trader: Address) => void>()
  return {
    wake(traders: Iterable<Address>): void {
      for (const trader of traders) {
        for (const listener of listeners) {
          try {
            listener(trader)
          } catch (error) {
            onError(error)
          }
        }
      }
    },
    subscribe(listener: (trader: Address) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A journal, and what was collected in it. */
interface OwnJournal extends Journal {
  readonly changes: Changes
  /** Returns the step of the follower; `undefined` when there is none. */
  told(): string | undefined
}

function startJournal(chain: ChainSlug, cause: Cause): OwnJournal {
  const orders: OrderChange[] = []
  const positions: PositionChange[] = []
  const fills: LoggedFill[] = []
  let step: string | undefined
  return {
    told: () => step,
    step: (told) => void (step = told),
    changes: { chain, cause, orders, positions, fills },
    order: (change) => void orders.push(change),
    position: (change) => void positions.push(change),
    execution: (fill) => void fills.push(fill),
  }
}

/** Returns true when events for the changes hold all positions of their traders. */
function tellsPositions({ cause, positions }: Changes): boolean {
  return cause.isSnapshot === true ? !cause.isReorg : positions.length > 0
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
