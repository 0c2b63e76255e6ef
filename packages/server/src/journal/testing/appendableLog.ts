import type { Address, ChainSlug, LogChannel } from '@bezel/protocol'
import { appendEvents, firstSeqOf, lastSeqOf, listEvents, type NewEvent } from '../../store/accountEventStore.ts'
import type { Store } from '../../store/sql.ts'
import type { AccountLog } from '../accountLog.ts'

/** The reading side of a log over a real store, which a test appends to as it likes. */
export interface AppendableLog extends Omit<AccountLog, 'transaction' | 'account'> {
  /** One commit. */
  append(trader: Address, events: readonly NewEvent[]): Promise<void>
}

export function openAppendableLog(store: Store, chain: ChainSlug): AppendableLog {
  const listeners = new Set<(trader: Address) => void>()
  return {
    async append(trader, events) {
      await store.transaction((sql) => appendEvents(sql, { chain, trader }, events))
      for (const listener of listeners) listener(trader)
    },
    lastSeq: (trader) => lastSeqOf(store.read, { chain, trader }),
    firstSeq: (trader) => firstSeqOf(store.read, { chain, trader }),
    read: (trader, of) => listEvents(store.read, { chain, trader }, of),
    onAppend(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** An event with its own text as data. */
export function testEvent(channel: LogChannel, text: string): NewEvent {
  return { channel, timestampMs: 1_700_000_000_000, block: null, isReverted: false, data: JSON.stringify({ text }) }
}
