import type { PositionChange } from '../trading/positions/positionChange.ts'
import type { OrderChange } from '../trading/orders/orderChange.ts'
import type { Address, ChainSlug } from '@bezel/protocol'
import {
  appendEvents,
  firstSeqOf,
  lastSeqOf,
  listEvents,
  setToldHoldings,
  toldHoldings,
} from '../store/accountEventStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import type { AccountLog, Cause, Changes, Journal, LoggedFill } from './accountLog.ts'
import { eventsOf, type PositionsText } from './eventsOf.ts'

export interface AccountLogOptions {
  readonly chain: ChainSlug
  readonly store: Store
  readonly positionsText: PositionsText
  readonly now: () => number
  /** What else is to be kept of the changes, in their transaction. */
  readonly alsoKeep: (sql: Sql, changes: Changes) => Promise<void>
  /** After each commit that changed something, before anybody is woken. */
  readonly onCommit: (changes: Changes) => void
  /** Somebody who was told of a commit failed. What is committed stands, and whoever made it goes on. */
  readonly onError: (error: unknown) => void
}

export function createAccountLog(options: AccountLogOptions): AccountLog {
  const { chain, store, now } = options
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
    for (const [trader, ofTrader] of events) await appendEvents(sql, owner(trader), ofTrader)
    await options.alsoKeep(sql, changes)
    return [...events].filter(([, ofTrader]) => ofTrader.length > 0).map(([trader]) => trader)
  }

  return {
    async transaction(origin, work) {
      const { result, changes, traders } = await store.transaction(async (sql) => {
        const journal = startJournal(chain, { ...origin, nowMs: now() })
        const made = await work(sql, journal)
        const isChanged = journal.changes.orders.length + journal.changes.positions.length > 0
        const told = isChanged ? await keep(sql, journal.changes) : []
        return { result: made, changes: isChanged ? journal.changes : undefined, traders: told }
      })
      if (changes !== undefined) guarded(() => options.onCommit(changes))
      wake(traders)
      return result
    },
    async account(trader, { holdings, text }) {
      // Mostly nothing is new, and then nobody has to wait for the one writer.
      if ((await toldHoldings(store.read, owner(trader))) === holdings) return false
      const isNews = await store.transaction(async (sql) => {
        const told = await toldHoldings(sql, owner(trader))
        if (told === holdings) return false
        await setToldHoldings(sql, owner(trader), holdings)
        if (told === undefined) return false
        const event = { channel: 'account', timestampMs: now(), block: null, isReverted: false, data: text } as const
        await appendEvents(sql, owner(trader), [event])
        return true
      })
      if (isNews) wake([trader])
      return isNews
    },
    lastSeq: (trader) => lastSeqOf(store.read, owner(trader)),
    firstSeq: (trader) => firstSeqOf(store.read, owner(trader)),
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
