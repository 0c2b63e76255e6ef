import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Address, ChainSlug, LogChannel } from '@bezel/protocol'
import { appendEvents, readKeptSeqs, readLastSeq, listEvents, type NewEvent } from '../../store/accountEventStore.ts'
import type { Store } from '../../store/sql.ts'
import type { AccountLog } from '../accountLog.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

/** The reading side of a log over a real store, to which a test appends events directly. */
export interface AppendableLog extends Omit<AccountLog, 'transaction' | 'join' | 'account' | 'now'> {
  /** Appends events in one commit. */
  append(trader: Address, events: readonly NewEvent[]): Promise<void>
}

export function openAppendableLog(store: Store, chain: ChainSlug): AppendableLog {
  const listeners = new Set<(trader: Address) => void>()
  return {
    async append(trader, events) {
      await store.transaction(TEST_SCOPE, (sql) => appendEvents(sql, { chain, trader }, events))
      for (const listener of listeners) listener(trader)
    },
    settled: () => nextTurn(),
    lastSeq: (trader) => readLastSeq(store.read, { chain, trader }),
    keptSeqs: (trader) => readKeptSeqs(store.read, { chain, trader }),
    read: (trader, of) => listEvents(store.read, { chain, trader }, of),
    onAppend(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Returns an event with the given text in its data. */
export function testEvent(channel: LogChannel, text: string): NewEvent {
  return { channel, timestampMs: 1_700_000_000_000, block: null, isReverted: false, data: JSON.stringify({ text }) }
}
