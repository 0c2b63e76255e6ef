import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { notifications } from '../data/account.ts'
import { identity } from '../data/client.ts'
import { browserStore, readStored, writeStored } from '../data/storage.ts'
import { highestId, unreadCount } from './grouping.ts'

/** Grows when another tab has seen notices, so that what is stored is read again. */
const changes = signal(0)

if (typeof addEventListener !== 'undefined' && typeof localStorage !== 'undefined') {
  addEventListener('storage', ({ key }) => {
    if (key?.startsWith('bezel.seen.') === true) changes.value += 1
  })
}

const lastSeen = computed(() => {
  void changes.value
  const stored = readStored(browserStore, keyOf())
  return typeof stored === 'number' ? stored : 0
})

/** Number of notices that came after the list was last open, in any tab. */
export const unread: ReadonlySignal<number> = computed(() => unreadCount(notifications.value ?? [], lastSeen.value))

/** Remembers that all notices of now were seen. */
export function markSeen(): void {
  const highest = highestId(notifications.peek() ?? [], lastSeen.peek())
  if (highest === lastSeen.peek()) return
  writeStored(browserStore, keyOf(), highest)
  changes.value += 1
}

function keyOf(): string {
  return `seen.${identity.value?.trader ?? 'nobody'}`
}
