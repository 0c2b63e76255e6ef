import type { BezelClient, FillHistoryEntry } from '@bezel/sdk'
import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { fills } from '../data/account.ts'
import { accountClient } from '../data/client.ts'
import { problemOf, type Problem } from '../ground/problem.ts'
import { mergeEntries } from './mergeEntries.ts'

/** The whole history of an account. */
export interface Ledger {
  /** All entries, newest first; null until they are read. */
  readonly entries: readonly FillHistoryEntry[] | null
  readonly problem: Problem | null
}

const EMPTY: Ledger = { entries: null, problem: null }

const state = signal<Ledger>(EMPTY)

/** The whole history, read while `followLedger` runs and then kept up to date by the fills of the account's log. */
export const ledger: ReadonlySignal<Ledger> = state

/** The client whose account `state` is of. */
let reading: BezelClient | null = null

const PAGE_SIZE = 500

/** Reads the whole history. An answer for an account that is not shown any more is dropped. */
async function readLedger(client: BezelClient): Promise<void> {
  reading = client
  try {
    const entries = await Array.fromAsync(client.account.allFills({ pageSize: PAGE_SIZE }))
    if (reading === client) state.value = { entries, problem: null }
  } catch (error) {
    if (reading === client) state.value = { ...state.peek(), problem: problemOf(error) }
  }
}

/** Keeps the history up to date. Returns how to stop. */
export function followLedger(): () => void {
  const stopReading = effect(() => {
    const client = accountClient.value
    if (client === reading && untracked(() => state.value.entries) !== null) return
    state.value = EMPTY
    reading = null
    if (client !== null) void readLedger(client)
  })
  const stopMerging = effect(() => {
    const newest = fills.value
    const { entries } = state.peek()
    if (newest === null || entries === null) return
    const merged = mergeEntries(newest, entries)
    const client = accountClient.peek()
    if (merged !== null) state.value = { entries: merged, problem: null }
    else if (client !== null) void readLedger(client)
  })
  return () => {
    stopReading()
    stopMerging()
  }
}
