import type { AuditLogEntry } from '@bezel/sdk'
import { effect, signal, untracked, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountClient } from '../data/client.ts'
import { problemOf, type Problem } from '../ground/problem.ts'
import { agentList } from './agentsFeed.ts'

/** Address of the only agent whose entries are shown, `keys` for those of API keys, or nothing for all. */
export const auditFilter: Signal<string> = signal('')

/** The log of rights, as far as it was read; null until the first page is there. */
export const auditEntries: Signal<readonly AuditLogEntry[] | null> = signal(null)

/** True while there are older entries. */
export const hasOlderEntries: Signal<boolean> = signal(false)

/** Reason why the log cannot be shown; null while all is well. */
export const auditProblem: Signal<Problem | null> = signal(null)

const PAGE = 25

const POLL_MS = 5_000

let cursor: string | null = null

/** Reads the newest entries, keeping older ones that were read before. */
export async function renewAudit(): Promise<void> {
  const page = await readPage(undefined)
  if (page === undefined) return
  const known = auditEntries.peek() ?? []
  if (auditEntries.peek() !== null && page.data[0]?.id === known[0]?.id) return
  const ids = new Set(page.data.map(({ id }) => id))
  const older = known.filter(({ id }) => !ids.has(id))
  const isJoined = known.length === 0 || older.length < known.length || page.nextCursor === null
  // A page of new entries only leaves a gap to those of before, so these are read again when they are wanted.
  auditEntries.value = isJoined ? [...page.data, ...older] : page.data
  if (known.length === 0 || !isJoined) cursor = page.nextCursor
  hasOlderEntries.value = cursor !== null
}

/** Reads the page after the oldest entry that is shown. */
export async function readOlder(): Promise<void> {
  if (cursor === null) return
  const page = await readPage(cursor)
  if (page === undefined) return
  auditEntries.value = [...(auditEntries.peek() ?? []), ...page.data]
  cursor = page.nextCursor
  hasOlderEntries.value = cursor !== null
}

/** Keeps the newest entries up to date while a component is mounted. */
export function useAudit(): void {
  useEffect(() => {
    const stopAccount = effect(() => {
      void accountClient.value
      untracked(() => {
        auditEntries.value = null
        hasOlderEntries.value = false
        cursor = null
      })
    })
    // Most changes of rights change the list of agents; what the service notices later is found by asking.
    const timer = setInterval(() => document.hidden || void renewAudit(), POLL_MS)
    const stopAgents = effect(() => {
      void [accountClient.value, JSON.stringify(agentList.value)]
      untracked(() => void renewAudit())
    })
    return () => {
      stopAccount()
      stopAgents()
      clearInterval(timer)
    }
  }, [])
}

async function readPage(
  from: string | undefined,
): Promise<{ readonly data: readonly AuditLogEntry[]; readonly nextCursor: string | null } | undefined> {
  const client = accountClient.peek()
  if (client === null) return undefined
  try {
    const page = await client.account.audit({ limit: PAGE, ...(from === undefined ? {} : { cursor: from }) })
    auditProblem.value = null
    return accountClient.peek() === client ? page : undefined
  } catch (error) {
    auditProblem.value = problemOf(error)
    return undefined
  }
}
