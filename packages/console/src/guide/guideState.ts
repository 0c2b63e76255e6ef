import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { route } from '../router/router.ts'
import { positions, recentOrders } from '../data/account.ts'
import { chainInfo } from '../data/chain.ts'
import { serverNow } from '../data/now.ts'
import { settings } from '../data/settings.ts'
import { browserStore, readStored, writeStored } from '../data/storage.ts'
import { session } from '../session/session.ts'
import { advance, readMemory, type GuideFacts, type GuideMemory } from './guideSteps.ts'

/** Name of the guide's memory. `{"status":"skipped"}` as `bezel.guide` in localStorage keeps the guide away. */
const MEMORY = 'guide'

const memory = signal<GuideMemory>(readMemory(readStored(browserStore, MEMORY)))

/** Memory of the guide in this browser. */
export const guideMemory: ReadonlySignal<GuideMemory> = memory

/** True on a local chain, where nothing can be lost. */
export const isGuideOffered: ReadonlySignal<boolean> = computed(
  () => settings.value !== null && settings.value.sandbox !== null && (chainInfo.value?.rpcUrl ?? null) !== null,
)

/** Present facts of the page, by which the guide goes. */
export const guideFacts: ReadonlySignal<GuideFacts> = computed(() => {
  const who = session.value
  return {
    isSignedIn: who.kind === 'connected' && who.isSignedIn,
    trader: who.kind === 'connected' ? who.address : null,
    view: route.value.view,
    orders: recentOrders.value,
    positionIds: positions.value?.map(({ id }) => id) ?? null,
    nowMs: serverNow(),
  }
})

/** Takes in what happened. Returns true when the guide has just come to its end. */
export function followFacts(facts: GuideFacts): boolean {
  const before = memory.peek()
  const after = advance(before, facts)
  if (after === before) return false
  remember(after)
  return after.status === 'done'
}

/** Ends the guide for ever in this browser. */
export function skipGuide(): void {
  remember({ status: 'skipped' })
}

function remember(next: GuideMemory): void {
  memory.value = next
  writeStored(browserStore, MEMORY, next)
}
